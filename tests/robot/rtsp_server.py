"""A small RTSP server: sends an MPEG transport stream over the connection that asks for it."""

import contextlib
import socket
import struct
import threading
from pathlib import Path
from typing import Self

# So much of a transport stream is in a packet: seven of its own.
PIECE = 7 * 188


class RtspServer:
    """Answers one client after the other on loopback; counts them, and streams sent to the end.

    Whoever asks is sent the whole stream, again and again. `hang_up` breaks off whoever listens.
    """

    def __init__(self, stream: Path) -> None:
        self.stream, self.clients, self.rounds = stream.read_bytes(), 0, 0
        self.changed = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connection: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def address(self) -> str:
        """Where it is, with a name and a password that it does not ask for."""
        return f"rtsp://anna:secret@127.0.0.1:{self._listener.getsockname()[1]}/door"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()
        self._thread.join()

    def hang_up(self) -> None:
        """Break off who is listening now."""
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                connection, _ = self._listener.accept()
                self._connection = connection
                with connection, contextlib.suppress(OSError):
                    self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        asked = connection.makefile("rb")
        while request := asked.readline().split():
            fields = dict(
                line.decode().strip().split(": ", 1)
                for line in iter(asked.readline, b"\r\n")
                if b": " in line
            )
            connection.sendall(self._reply(request[0].decode(), fields["CSeq"]))
            if request[0] == b"PLAY":
                self.clients += 1
                self._play(connection)

    def _reply(self, method: str, number: str) -> bytes:
        body, more = "", ""
        if method == "DESCRIBE":
            body = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=door\r\nt=0 0\r\nm=video 0 RTP/AVP 33\r\n"
            more = f"Content-Type: application/sdp\r\nContent-Length: {len(body)}\r\n"
        elif method == "SETUP":
            more = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 7\r\n"
        elif method == "OPTIONS":
            more = "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n"
        return f"RTSP/1.0 200 OK\r\nCSeq: {number}\r\n{more}\r\n{body}".encode()

    def _play(self, connection: socket.socket) -> None:
        number = 0
        while True:
            for start in range(0, len(self.stream), PIECE):
                piece = self.stream[start : start + PIECE]
                head = struct.pack(">BBHII", 0x80, 33, number % 65536, number * 100 % 2**32, 7)
                connection.sendall(struct.pack(">cBH", b"$", 0, len(head + piece)) + head + piece)
                number += 1
            with self.changed:
                self.rounds += 1
                self.changed.notify_all()
