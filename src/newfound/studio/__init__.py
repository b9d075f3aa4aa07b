"""The studio: a recogniser as a service, and a page that teaches it with a camera."""
