//! Pictures as models take them: of a known format, whole, and no larger than
//! they are looked at.
//!
//! A picture that is fit already stays as it is, byte for byte. Another one is
//! made smaller and written anew; of one that moves the first frame is taken.
//! Every picture is decoded once, within limits, because a broken one would make
//! a provider refuse the whole conversation. Whoever calls chooses where it may
//! take the time; nothing here waits.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::codecs::webp::WebPDecoder;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, imageops};
use thiserror::Error;

use crate::contract::Picture;

/// The formats that models take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP.
    WebP,
    /// GIF.
    Gif,
}

/// How large a picture may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file that is looked at at all.
    pub input_bytes: usize,
    /// Bytes of what a model is sent.
    pub bytes: usize,
    /// The longer side of what a model is sent.
    pub side: u32,
}

impl Default for Limits {
    /// What the large providers take without making it smaller themselves: 5 MB in base64, 1568 pixels.
    fn default() -> Self {
        Self { input_bytes: 20 * 1024 * 1024, bytes: 5 * 1024 * 1024 / 4 * 3, side: 1568 }
    }
}

/// Why a picture cannot be shown to a model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PictureError {
    /// It is in no format that models take.
    #[error("it is no PNG, JPEG, WebP or GIF image; convert it to PNG first")]
    UnknownFormat,
    /// The file is too large to look at.
    #[error("it has {bytes} bytes and at most {most} can be taken; make it smaller first")]
    TooLarge {
        /// Those of the file.
        bytes: usize,
        /// Those of the limit.
        most: usize,
    },
    /// It claims to have more pixels than can be held.
    #[error("it claims {width} x {height} pixels, more than can be held; make it smaller first")]
    TooManyPixels {
        /// From left to right.
        width: u32,
        /// From top to bottom.
        height: u32,
    },
    /// It cannot be decoded.
    #[error("it is a broken {format} image: {reason}")]
    Broken {
        /// What it begins like.
        format: &'static str,
        /// What the decoder said.
        reason: String,
    },
    /// It cannot be made small enough.
    #[error("it cannot be made small enough to be sent")]
    Incompressible,
}

/// Pixels of a picture that is decoded; four bytes each.
const MOST_PIXELS: u64 = 64 * 1024 * 1024;

/// Bytes that a decoder may take.
const MOST_MEMORY: u64 = 512 * 1024 * 1024;

/// How often a picture is made smaller before it is given up.
const ATTEMPTS: u32 = 8;

impl Format {
    /// The format of a file that begins with these bytes.
    #[must_use]
    pub fn of(begin: &[u8]) -> Option<Self> {
        match begin {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::WebP => "WebP",
            Self::Gif => "GIF",
        }
    }

    /// As it is named on the web.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::WebP => "image/webp",
            Self::Gif => "image/gif",
        }
    }

    fn codec(self) -> ImageFormat {
        match self {
            Self::Png => ImageFormat::Png,
            Self::Jpeg => ImageFormat::Jpeg,
            Self::WebP => ImageFormat::WebP,
            Self::Gif => ImageFormat::Gif,
        }
    }
}

/// Makes a picture of a file's bytes. It can take a second: not for an async thread.
///
/// # Errors
///
/// If it is no picture, is broken, or is too large to be made smaller.
pub fn prepare(bytes: Vec<u8>, limits: Limits) -> Result<Picture, PictureError> {
    let format = Format::of(&bytes).ok_or(PictureError::UnknownFormat)?;
    if bytes.len() > limits.input_bytes {
        return Err(PictureError::TooLarge { bytes: bytes.len(), most: limits.input_bytes });
    }
    let (image, motion) = decode(&bytes, format)?;
    let is_small = image.width().max(image.height()) <= limits.side && bytes.len() <= limits.bytes;
    if is_small && motion == Motion::Still {
        return Ok(Picture { media_type: format.media_type(), bytes });
    }
    // Its pixels are all that is needed from here on.
    drop(bytes);
    shrink(image, format, limits)
}

/// Whether a picture moves, or may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Motion {
    Still,
    Moving,
}

fn decode(bytes: &[u8], format: Format) -> Result<(DynamicImage, Motion), PictureError> {
    let broken = |error: image::ImageError| PictureError::Broken {
        format: format.name(),
        reason: error.to_string().chars().take(200).collect(),
    };
    let reader = || ImageReader::with_format(Cursor::new(bytes), format.codec());
    let (width, height) = reader().into_dimensions().map_err(broken)?;
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(PictureError::TooManyPixels { width, height });
    }
    let motion = match format {
        // Whether there is a second frame is not worth finding out: PNG holds the first as well.
        Format::Gif => Motion::Moving,
        Format::WebP if WebPDecoder::new(Cursor::new(bytes)).map_err(broken)?.has_animation() => {
            Motion::Moving
        }
        Format::WebP | Format::Png | Format::Jpeg => Motion::Still,
    };
    let mut reader = reader();
    let mut memory = image::Limits::default();
    memory.max_alloc = Some(MOST_MEMORY);
    reader.limits(memory);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    // A camera's picture may lie on its side; how to turn it is lost when it is written anew.
    let orientation = decoder.orientation().ok();
    let mut image = DynamicImage::from_decoder(decoder).map_err(broken)?;
    if let Some(orientation) = orientation {
        image.apply_orientation(orientation);
    }
    Ok((image, motion))
}

/// Smaller and smaller, until it fits.
fn shrink(image: DynamicImage, format: Format, limits: Limits) -> Result<Picture, PictureError> {
    let mut side = limits.side.max(1);
    for _ in 0..ATTEMPTS {
        let resized;
        let smaller = match image.width().max(image.height()) > side {
            true => {
                resized = image.resize(side, side, imageops::FilterType::Triangle);
                &resized
            }
            false => &image,
        };
        let order = match format {
            Format::Jpeg => [jpeg as fn(&DynamicImage) -> _, png],
            Format::Png | Format::WebP | Format::Gif => [png as fn(&DynamicImage) -> _, jpeg],
        };
        let fitting = order
            .iter()
            .filter_map(|encode| encode(smaller))
            .find(|picture| picture.bytes.len() <= limits.bytes);
        if let Some(picture) = fitting {
            return Ok(picture);
        }
        side = side * 2 / 3;
        if side == 0 {
            break;
        }
    }
    Err(PictureError::Incompressible)
}

fn png(image: &DynamicImage) -> Option<Picture> {
    let mut bytes = Vec::new();
    // Other depths and colours are for printing.
    let image = match image.has_alpha() {
        true => DynamicImage::ImageRgba8(image.to_rgba8()),
        false => DynamicImage::ImageRgb8(image.to_rgb8()),
    };
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
    image.write_with_encoder(encoder).ok()?;
    Some(Picture { media_type: Format::Png.media_type(), bytes })
}

fn jpeg(image: &DynamicImage) -> Option<Picture> {
    let mut bytes = Vec::new();
    let opaque = DynamicImage::ImageRgb8(on_white(image));
    opaque.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 85)).ok()?;
    Some(Picture { media_type: Format::Jpeg.media_type(), bytes })
}

/// JPEG knows nothing of what shines through, and black text on black says nothing.
fn on_white(image: &DynamicImage) -> image::RgbImage {
    if !image.has_alpha() {
        return image.to_rgb8();
    }
    let mut white = image::RgbaImage::from_pixel(image.width(), image.height(), image::Rgba([255; 4]));
    imageops::overlay(&mut white, &image.to_rgba8(), 0, 0);
    DynamicImage::ImageRgba8(white).to_rgb8()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(width: u32, height: u32, format: Format) -> Vec<u8> {
        let image = image::RgbImage::from_fn(width, height, |x, y| {
            image::Rgb([x.wrapping_mul(37) as u8, y.wrapping_mul(91) as u8, (x * y) as u8])
        });
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::ImageRgb8(image).write_to(&mut bytes, format.codec()).unwrap();
        bytes.into_inner()
    }

    fn size(picture: &Picture) -> (u32, u32) {
        let format = Format::of(&picture.bytes).unwrap();
        assert_eq!(picture.media_type, format.media_type());
        ImageReader::with_format(Cursor::new(&picture.bytes), format.codec()).into_dimensions().unwrap()
    }

    const SMALL: Limits = Limits { input_bytes: 100_000, bytes: 4_000, side: 32 };

    #[test]
    fn what_fits_stays_as_it_is_and_the_rest_is_made_to_fit() {
        for format in [Format::Png, Format::Jpeg, Format::WebP] {
            let fitting = encoded(20, 10, format);
            assert_eq!(prepare(fitting.clone(), SMALL).unwrap().bytes, fitting);
            let picture = prepare(encoded(64, 32, format), SMALL).unwrap();
            assert_eq!(size(&picture), (32, 16), "{format:?}");
            assert!(picture.bytes.len() <= SMALL.bytes);
        }
        let tight = Limits { bytes: 900, ..SMALL };
        let picture = prepare(encoded(64, 64, Format::Png), tight).unwrap();
        assert!(picture.bytes.len() <= 900 && size(&picture).0 >= 8, "{:?}", size(&picture));
        assert_eq!(
            prepare(encoded(64, 64, Format::Png), Limits { bytes: 10, ..SMALL }),
            Err(PictureError::Incompressible)
        );
    }

    #[test]
    fn of_what_moves_the_first_frame_is_taken() {
        let mut bytes = Vec::new();
        {
            let mut encoder = image::codecs::gif::GifEncoder::new(&mut bytes);
            for colour in [[255, 0, 0, 255], [0, 255, 0, 255]] {
                let frame = image::RgbaImage::from_pixel(4, 4, image::Rgba(colour));
                encoder.encode_frame(image::Frame::new(frame)).unwrap();
            }
        }
        let picture = prepare(bytes, SMALL).unwrap();
        assert_eq!(picture.media_type, "image/png");
        let image = image::load_from_memory(&picture.bytes).unwrap().to_rgb8();
        assert_eq!(image.get_pixel(1, 1).0, [255, 0, 0]);
    }

    #[test]
    fn what_is_no_picture_or_a_bomb_is_refused() {
        assert_eq!(prepare(b"text".to_vec(), SMALL), Err(PictureError::UnknownFormat));
        let large = [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 100_000]].concat();
        assert_eq!(prepare(large, SMALL), Err(PictureError::TooLarge { bytes: 100_008, most: 100_000 }));
        let mut bytes = encoded(20, 10, Format::Png);
        bytes.truncate(bytes.len() / 2);
        assert!(matches!(prepare(bytes, SMALL), Err(PictureError::Broken { format: "PNG", .. })));
        // A header that promises what is not there: 60 000 by 60 000.
        let mut bytes = encoded(20, 10, Format::Gif);
        bytes[6..10].copy_from_slice(&[0x60, 0xea, 0x60, 0xea]);
        assert_eq!(prepare(bytes, SMALL), Err(PictureError::TooManyPixels { width: 60_000, height: 60_000 }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn broken_bytes_never_panic(
            which in 0_usize..4, at in any::<prop::sample::Index>(), value in any::<u8>(), cut in any::<prop::sample::Index>(),
        ) {
            let format = [Format::Png, Format::Jpeg, Format::WebP, Format::Gif][which];
            let mut bytes = encoded(9, 7, format);
            let position = at.index(bytes.len());
            bytes[position] = value;
            bytes.truncate(cut.index(bytes.len()) + 1);
            if let Ok(picture) = prepare(bytes, SMALL) {
                prop_assert!(picture.bytes.len() <= SMALL.bytes);
            }
        }
    }
}
