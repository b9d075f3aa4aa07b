"""From the name that torch gives a device to the device."""

from typing import Any

from newfound.common.device import Device
from newfound.common.errors import InputError
from newfound.common.extras import imported_from


def torch_device(device: Any) -> Device:
    """Return a device of torch's that goes by a name such as "cuda", or raise InputError.

    Examples
    --------
    >>> torch_device("cpu")
    Device('array_api_compat.torch', device(type='cpu'))
    """
    if isinstance(device, Device):
        return device
    with imported_from("torch"):
        import torch
    try:
        # Something must come back from it, and in float64: some devices know no such numbers, and
        # "meta" keeps none at all.
        probe = torch.zeros(1, dtype=torch.float64, device=device)
        probe.tolist()
        # With its number: "cuda" and "cuda:0" are the same, but do not compare equal.
        return Device("array_api_compat.torch", probe.device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"there is no device {device!r} to learn on: {reason}") from error
