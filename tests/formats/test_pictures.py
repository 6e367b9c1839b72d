"""Odd and broken images: decoded right, or refused with a reason."""

from __future__ import annotations

import struct
import threading
import zlib
from io import BytesIO

import cv2
import numpy as np
import pytest
from PIL import Image

from likewise.errors import DataError, MissingPartError
from likewise.items import pictures
from likewise.items.pictures import Picture, decoded, of_array
from pictures_made import encoded, texture

RED, BLUE = (255, 0, 0), (0, 0, 255)


def halves(left: object, right: object, mode: str = "RGB") -> Image.Image:
    """An image of 40 x 20 pixels in two colors."""
    image = Image.new(mode, (40, 20), left)
    image.paste(right, (20, 0, 40, 20))
    return image


def corners(picture: Picture) -> list[tuple[int, ...]]:
    """The colors of the upper left and the lower right pixel."""
    return [tuple(picture.pixels[place].tolist()) for place in ((0, 0), (-1, -1))]


def near(found: Picture, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return bool(np.abs(np.array(corners(found)) - (left, right)).max() <= 3)


@pytest.mark.parametrize("format", ["PNG", "GIF", "WEBP", "TIFF", "BMP", "JPEG2000", "PPM", "AVIF", "JPEG"])
def test_every_format_gives_its_colors(format: str) -> None:
    how = {"WEBP": {"lossless": True}, "AVIF": {"quality": 100, "subsampling": "4:4:4"}, "JPEG": {"quality": 100, "subsampling": 0}}.get(format, {})
    found = decoded(encoded(halves(RED, BLUE), format, **how))
    assert near(found, RED, BLUE)
    assert (found.pixels.shape, found.pixels.dtype, found.width, found.height) == ((20, 40, 3), np.uint8, 40, 20)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("format", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_the_orientation_of_exif_is_applied(orientation: int, format: str) -> None:
    """An upright image, stored as a camera would that was held in each of the eight ways."""
    upright = texture(1, 60, 40)
    backwards = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # Pillow's numbers of the inverse operations
    stored = upright.transpose(Image.Transpose(backwards[orientation])) if orientation > 1 else upright
    exif = Image.Exif()
    exif[0x0112] = orientation
    how = {"JPEG": {"quality": 100, "subsampling": 0}, "WEBP": {"lossless": True}}.get(format, {})
    found = decoded(encoded(stored, format, exif=exif, **how))
    assert (found.width, found.height) == (60, 40)
    assert np.abs(found.pixels.astype(int) - np.asarray(upright)).max() <= 12


def test_other_colors_become_red_green_and_blue() -> None:
    for image in (halves(RED, BLUE).quantize(4), halves(RED, BLUE, "RGB").convert("CMYK")):
        format = "TIFF" if image.mode == "CMYK" else "PNG"
        assert near(decoded(encoded(image, format)), RED, BLUE)
    cmyk = encoded(halves((0, 255, 255, 0), (255, 255, 0, 0), "CMYK"), "JPEG", quality=100)
    assert near(decoded(cmyk), RED, BLUE)
    assert near(decoded(encoded(halves(40, 200, "L"), "PNG")), (40,) * 3, (200,) * 3)
    assert near(decoded(encoded(halves(0, 1, "1"), "PNG")), (0,) * 3, (255,) * 3)


def test_sixteen_bits_give_the_high_byte() -> None:
    values = np.array([[0x1234, 0xFEDC]], np.uint16)
    for format in ("PNG", "TIFF", "PPM"):
        assert decoded(encoded(Image.fromarray(values), format)).pixels[:, :, 0].tolist() == [[0x12, 0xFE]]
    floats = Image.fromarray(np.array([[-2.0, 0.0, 2.0]], np.float32))
    assert decoded(encoded(floats, "TIFF")).pixels[0, :, 1].tolist() == [0, 128, 255]  # from the least to the greatest
    wide = Image.fromarray(np.array([[0, 51, 255]], np.int32))  # of 32 bits, also if the values are small
    assert decoded(encoded(wide, "TIFF")).pixels[0, :, 1].tolist() == [0, 51, 255]
    assert decoded(b"P5\n2 1\n65535\n" + bytes([0, 200, 0x12, 0x34])).pixels[0, :, 1].tolist() == [0, 0x12]


def test_pixels_that_pillow_does_not_read_are_no_damage() -> None:
    written = cv2.imencode(".tiff", np.zeros((5, 5, 3), np.float32))[1].tobytes()
    with pytest.raises(DataError, match="its type of pixels, such as three floats, is not supported"):
        decoded(written)


def test_metadata_that_expand_too_much_are_named() -> None:
    raw = encoded(texture(1), "PNG")
    content = b"Comment\0\0" + zlib.compress(bytes(3_000_000))
    text = struct.pack(">I", len(content)) + b"zTXt" + content + struct.pack(">I", zlib.crc32(b"zTXt" + content))
    for place in (33, len(raw) - 12):  # behind the header, and behind the pixels
        with pytest.raises(DataError, match="its metadata exceed the limit of Pillow"):
            decoded(raw[:place] + text + raw[place:])


def test_transparent_parts_are_white() -> None:
    """The color below full transparency does not count."""
    for image, format in [
        (halves((255, 0, 0, 255), (0, 0, 0, 0), "RGBA"), "PNG"),
        (halves((255, 0, 0, 255), (9, 9, 9, 0), "RGBA"), "WEBP"),
        (halves((255, 0, 0, 255), (9, 9, 9, 0), "RGBA"), "GIF"),
    ]:
        assert near(decoded(encoded(image, format)), RED, (255, 255, 255)), format
    assert near(decoded(encoded(halves((80, 255), (0, 0), "LA"), "PNG")), (80,) * 3, (255,) * 3)
    assert near(decoded(encoded(halves((0, 0, 0, 128), (0, 0, 0, 255), "RGBA"), "PNG")), (127,) * 3, (0,) * 3)
    assert near(decoded(encoded(halves(RED, BLUE), "PNG", transparency=BLUE)), RED, (255, 255, 255))


@pytest.mark.parametrize("format", ["GIF", "WEBP", "PNG"])
def test_an_animated_image_is_its_first_frame(format: str) -> None:
    how = {"lossless": True} if format == "WEBP" else {}
    moving = encoded(halves(RED, RED), format, save_all=True, append_images=[halves(BLUE, BLUE)], duration=100, **how)
    assert near(decoded(moving), RED, RED)


def test_one_pixel_and_one_row() -> None:
    assert decoded(encoded(Image.new("RGB", (1, 1), RED), "PNG")).pixels.tolist() == [[[255, 0, 0]]]
    wide = decoded(encoded(Image.new("RGB", (5000, 1), RED), "PNG"))
    assert (wide.pixels.shape, wide.width, wide.height) == ((1, 5000, 3), 5000, 1)


def test_large_images_are_reduced() -> None:
    """Red above blue stay where they are, and the size is that of the file."""
    for format in ("PNG", "JPEG"):
        found = decoded(encoded(halves(RED, BLUE).resize((4000, 3000), Image.Resampling.NEAREST), format))
        assert (found.width, found.height) == (4000, 3000)
        assert 512 <= min(found.pixels.shape[:2]) < 1024 and near(found, RED, BLUE)


def plain_png(width: int, height: int) -> bytes:
    """A black image of 1 bit a pixel, without making it in memory."""
    packer, row = zlib.compressobj(9), bytes(1 + -(-width // 8))
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def test_two_hundred_megapixels_are_decoded_and_many_more_are_refused() -> None:
    found = decoded(plain_png(20_000, 10_000))
    assert (found.width, found.height, found.pixels.max()) == (20_000, 10_000, 0)
    bomb = plain_png(100_000, 100_000)[:200]  # refused by its header
    with pytest.raises(DataError, match=r"100,000 x 100,000 pixels, but max_record= allows 268,435,456, 4 for each of its bytes; raise it, or leave"):
        decoded(bomb)
    with pytest.raises(DataError, match=r"20,000 x 10,000 pixels, but max_record= allows 4,000,000"):
        decoded(plain_png(20_000, 10_000), most=1_000_000)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP"])
def test_a_truncated_file_is_refused(format: str) -> None:
    whole = encoded(texture(2), format)
    with pytest.raises(DataError, match=r"this image cannot be decoded: it is (truncated|damaged)"):
        decoded(whole[: len(whole) * 2 // 3])


def test_damage_is_refused() -> None:
    """Bytes that are replaced at random give an image or a reason, and no other error."""
    whole, draw, refused = encoded(texture(3), "PNG"), np.random.default_rng(0), 0
    for _ in range(60):
        data = np.frombuffer(whole, np.uint8).copy()
        data[draw.integers(8, len(data), 4)] = draw.integers(0, 256, 4)
        try:
            decoded(data.tobytes())
        except DataError as error:
            refused += "cannot be decoded" in str(error) or "pixels, but" in str(error)
    assert refused > 30


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"no image", "it is damaged, or its format is not read"),
        (b"\xff\xd8\xff", "it is (truncated|damaged)"),
        (b"\0\0\0\x18ftypheic" + bytes(20), "it is a HEIC file; convert it to JPEG"),
    ],
)
def test_what_is_no_image_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        decoded(data)


def test_damaged_metadata_do_not_matter() -> None:
    exif = b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" + bytes(30)
    assert near(decoded(encoded(halves(RED, BLUE), "JPEG", quality=100, subsampling=0, exif=exif)), RED, BLUE)


def test_arrays_have_the_range_of_their_type() -> None:
    gray = np.array([[0, 51, 255]], np.uint8)
    for same in (gray, gray[:, :, None], gray.astype(np.uint16) << 8, gray / 255, (gray / 255).astype(np.float32)):
        assert of_array(same).pixels[:, :, 2].tolist() == gray.tolist()
    assert of_array(np.array([[True, False]])).pixels[0, :, 0].tolist() == [255, 0]
    assert of_array(np.zeros((2, 3, 4), np.uint8)).pixels.tolist() == np.full((2, 3, 3), 255).tolist()  # transparent
    for bad in (np.zeros(4, np.uint8), np.zeros((0, 3), np.uint8), np.zeros((2, 2, 2), np.uint8), np.zeros((2, 2), np.int64), np.full((2, 2), 1.5)):
        with pytest.raises(DataError):
            of_array(bad)


def test_threads_decode_as_one_does() -> None:
    files = [encoded(texture(seed), "JPEG") for seed in range(8)]
    alone = [decoded(file).pixels for file in files]
    found: dict[int, np.ndarray] = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: decoded(files[n % 8]).pixels})) for n in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((found[n] == alone[n % 8]).all() for n in range(32))


def test_without_pillow_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    pictures._library.cache_clear()
    try:
        with pytest.raises(MissingPartError, match=r"images are decoded with Pillow, which is not installed: .* install pillow$"):
            decoded(encoded(Image.new("L", (1, 1)), "PNG"))
    finally:
        monkeypatch.undo()
        pictures._library.cache_clear()


def test_pillow_images_are_decoded_alike() -> None:
    image = Image.open(BytesIO(encoded(halves(RED, BLUE).quantize(4), "PNG")))
    assert near(pictures.of_image(image), RED, BLUE)
