#include "formats/foreign/foreign_formats.h"

#include "formats/foreign/las_head.h"
#include "formats/foreign/npy_head.h"
#include "formats/foreign/tar_member.h"
#include "formats/foreign/wav_head.h"
#include "formats/foreign/zip_member.h"

namespace gdelta::format {

namespace {

constexpr ForeignFormat kFormats[] = {
    {.name = "wav",
     .sentence = "as its WAV header says",
     .magic = "WAVE",
     .magic_at = 8,
     .recognise = recognise_wav,
     .recognise_more = recognise_more_wav},
    {.name = "npy",
     .sentence = "as its NPY header says",
     .magic = "\x93NUMPY",
     .recognise = recognise_npy},
    {.name = "las",
     .sentence = "as its LAS header says",
     .magic = "LASF",
     .recognise = recognise_las},
    {.name = "zip",
     .sentence = "as the first array in the ZIP archive says",
     .magic = "PK\3\4",
     .member = zip_member,
     .advice = zip_advice},
    {.name = "tar",
     .sentence = "as the first array in the TAR archive says",
     .magic = "ustar",
     .magic_at = kTarMagicAt,
     .member = tar_member},
};

}  // namespace

std::span<const ForeignFormat> foreign_formats() { return kFormats; }

}  // namespace gdelta::format
