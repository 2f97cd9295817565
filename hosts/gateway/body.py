"""A body is read within a bound of bytes and of time, and taken for strict JSON.

Source: SPEC A8.
"""

from typing import TypeVar

import anyio
import msgspec
from starlette.requests import ClientDisconnect, Request

from pmcl.contracts import parse_strict
from pmcl.hosts.desk import read_asked
from pmcl.hosts.gateway.refusals import GatewayRefusedError

__all__ = ["read_json", "read_raw"]

S = TypeVar("S", bound=msgspec.Struct)


async def _read(request: Request, max_bytes: int, within_s: float) -> bytes:
    """Return the whole body.

    Raises:
        GatewayRefusedError: it is too large, or did not arrive in time.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise _too_large(max_bytes)
    body = bytearray()
    try:
        with anyio.fail_after(within_s):
            async for chunk in request.stream():
                if len(body) + len(chunk) > max_bytes:
                    raise _too_large(max_bytes)
                body += chunk
    except TimeoutError as error:
        limit = f"a whole body within {within_s:g} s"
        raise GatewayRefusedError(408, "too_slow", "$", limit=limit) from error
    except ClientDisconnect as error:
        raise GatewayRefusedError(400, "malformed", "$", limit="a whole body") from error
    return bytes(body)


async def read_raw(request: Request, max_bytes: int, within_s: float) -> bytes:
    """Return a body that is said to be JSON.

    Raises:
        GatewayRefusedError: it is too large, too slow, or said to be something else.
    """
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":  # which no page of another site may send unasked
        limit = "application/json"
        raise GatewayRefusedError(415, "wrong_media_type", "content-type", limit=limit)
    return await _read(request, max_bytes, within_s)


async def read_json(request: Request, kind: type[S], max_bytes: int, within_s: float) -> S:
    """Return the body as a `kind`.

    Raises:
        GatewayRefusedError: as `read_raw`.
        ContractError: it is not strict JSON, or does not fit.
    """
    return read_asked(parse_strict(await read_raw(request, max_bytes, within_s)), kind)


def _too_large(max_bytes: int) -> GatewayRefusedError:
    return GatewayRefusedError(413, "too_large", "$", limit=f"{max_bytes} bytes")
