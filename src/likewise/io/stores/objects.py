"""Object stores of S3 and Google Cloud Storage, by the file systems of Arrow, which take credentials from the usual places."""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, BinaryIO, cast

from likewise.errors import DataError
from likewise.io.attempts import REMOTE, TRIES
from likewise.io.location import Found, Location

#: Seconds to wait for a connection to S3, and in which Google's client repeats a request that fails; its own limit is 15 minutes.
TIMEOUT, REPEATED = 10.0, 10
#: Where credentials are given, in messages.
CREDENTIALS = {
    "s3": "give credentials by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for a public bucket set AWS_NO_SIGN_REQUEST=YES",
    "gs": "give credentials by GOOGLE_APPLICATION_CREDENTIALS or 'gcloud auth application-default login'",
}
REFUSED = ("ACCESS_DENIED", "status 403", "status 401", "INVALID_ACCESS_KEY", "SIGNATURE", "EXPIRED_TOKEN", "UNAUTHENTICATED", "PERMISSION_DENIED",
           "InvalidAccessKeyId", "credentials")  # fmt: skip
MISSING = ("NO_SUCH_BUCKET", "NO_SUCH_KEY", "RESOURCE_NOT_FOUND", "status 404", "NOT_FOUND", "Bucket", "Path does not exist")


class Objects:
    """A bucket of S3, or all of Google Cloud Storage."""

    def __init__(self, scheme: str, bucket: str) -> None:
        self.files = s3(bucket) if scheme == "s3" else google()

    def look(self, address: Location) -> Found:
        with named(address):
            (found,) = self.files.get_file_info([address.path])
        return known(found, address)

    def children(self, folder: Location) -> dict[str, Found]:
        from pyarrow.fs import FileSelector

        with named(folder):
            below = self.files.get_file_info(FileSelector(folder.path))
        there = {(found.path.removeprefix(folder.host + "/").rstrip("/"), found.type): known(found, folder) for found in below}
        if both := [key for key, number in Counter(key for key, _ in there).items() if number > 1]:
            place = Location(folder.scheme, folder.host, both[0])
            raise DataError(f"{place}: is both an object and a folder, of which only one could be read; name the files one by one")
        return {key: found for (key, _), found in there.items()}

    def reader(self, address: Location, first: Found) -> Callable[[int, int], bytes]:
        with named(address):
            file = self.files.open_input_file(address.path)
            size = file.size()
        if size != first.st_size:
            raise DataError(f"{address}: has changed during the run; start over, and do not change inputs during the run")

        def read(begin: int, size: int) -> bytes:
            with named(address):
                return file.read_at(size, begin)

        return read

    @contextmanager
    def writer(self, address: Location) -> Iterator[BinaryIO]:
        with named(address):
            file = self.files.open_output_stream(address.path, compression=None)  # else a name such as a.gz would have it compressed
        try:
            yield cast(BinaryIO, file)
        except BaseException:
            self._withdraw(address, file)
            raise
        with named(address):
            file.close()

    def _withdraw(self, address: Location, file: Any) -> None:
        """End an upload that failed. Arrow cannot abort one, so what was written becomes an object, which is deleted."""
        with suppress(OSError):
            size = file.tell()
            file.close()
            if self.look(address).st_size == size:
                self.remove(address)

    def remove(self, address: Location) -> None:
        with named(address):
            self.files.delete_file(address.path)


def s3(bucket: str) -> Any:
    """The file system for a bucket of S3 or a compatible store. AWS_ENDPOINT_URL names another server, AWS_REGION the region, else looked up."""
    from pyarrow import fs

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    scheme, _, server = endpoint.rpartition("://")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region and not endpoint:
        with named(Location("s3", bucket)):
            region = fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(
        anonymous=os.environ.get("AWS_NO_SIGN_REQUEST", "").lower() in ("yes", "true", "1"),
        region=region,
        scheme=scheme or "https",
        endpoint_override=server or None,
        connect_timeout=TIMEOUT,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
    )


def google() -> Any:
    """The file system of Google Cloud Storage. STORAGE_EMULATOR_HOST names another server."""
    from pyarrow import fs

    endpoint = os.environ.get("STORAGE_EMULATOR_HOST", "")
    scheme, _, server = endpoint.rpartition("://")
    other = {"anonymous": True, "scheme": scheme or "http", "endpoint_override": server} if server else {}
    with named(Location("gs", "")):
        return fs.GcsFileSystem(**other, retry_time_limit=timedelta(seconds=REPEATED))


def known(found: Any, address: Location) -> Found:
    """The facts that a store states about an address. Raises FileNotFoundError."""
    from pyarrow.fs import FileType

    if found.type == FileType.NotFound:
        raise FileNotFoundError(errno.ENOENT, "no such bucket" if not address.key else "no such file or folder", str(address))
    if found.type == FileType.Directory:
        return Found(stat.S_IFDIR)
    return Found(stat.S_IFREG, found.size, found.mtime_ns or 0)


@contextmanager
def named(address: Location) -> Iterator[None]:
    """Turn errors of Arrow into errors of the system that name the address and say what to do."""
    try:
        yield
    except OSError as error:
        said = str(error).strip().splitlines()[0].removesuffix(".")
        said = said.rpartition("with a last message of ")[2].partition(" error_info=")[0]  # as Google's client words it
        if "OAuth2 access token" in said:
            said = "no credentials were found"
        cause = said.replace(f"'{address.key}'", "").replace(f"'{address.host}'", "")  # a name may contain such a text
        if any(text in cause for text in REFUSED):
            raise PermissionError(errno.EACCES, f"access is refused ({said}); {CREDENTIALS[address.scheme]}", str(address)) from error
        if isinstance(error, FileNotFoundError) or any(text in cause for text in MISSING):
            raise FileNotFoundError(errno.ENOENT, "no such bucket, file or folder", str(address)) from error
        raise OSError(REMOTE, said, str(address)) from error
