#include "audio/encode.h"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "audio/resample.h"
#include "base/ascii.h"

namespace tokamak {
namespace {

struct Format {
  std::string_view name;
  std::string_view endings;  // of files, each with a space after it
  std::string_view content_type;
  int sndfile;    // 0: written here
  uint32_t rate;  // that it wants; 0: any
  bool streams;   // what begins it need not know how it ends
};

// By SoundFileFormat.
constexpr Format kFormats[] = {
    {"wav", ".wav ", "audio/wav", 0, 0, true},
    {"pcm", ".pcm .raw ", "audio/pcm", 0, 0, true},
    {"flac", ".flac ", "audio/flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 0, true},
    {"opus", ".opus .ogg ", "audio/ogg", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000, true},
    {"mp3", ".mp3 ", "audio/mpeg", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 0, false},
};

const Format& row_of(SoundFileFormat format) {
  return kFormats[size_t(format)];
}

std::optional<SoundFileFormat> find(auto fits) {
  const auto* const found = std::ranges::find_if(kFormats, fits);
  if (found == std::end(kFormats)) return std::nullopt;
  return SoundFileFormat(found - std::begin(kFormats));
}

void append_number(std::string& out, uint32_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += char(uint8_t(number >> (8 * i)));
}

/// For one channel of 16 bits. Programs read a file that says it has the most up to its end.
std::string wav_header(uint32_t rate, std::optional<uint64_t> data_bytes) {
  constexpr uint32_t kBytes = 2, kRest = 36, kMax = 0xffffffff;
  const bool is_known = data_bytes && *data_bytes <= kMax - kRest;
  std::string out = "RIFF";
  append_number(out, is_known ? uint32_t(*data_bytes) + kRest : kMax, 4);
  out += "WAVEfmt ";
  append_number(out, 16, 4);
  append_number(out, 1, 2);  // whole numbers
  append_number(out, 1, 2);  // channels
  append_number(out, rate, 4);
  append_number(out, rate * kBytes, 4);
  append_number(out, kBytes, 2);
  append_number(out, 8 * kBytes, 2);
  out += "data";
  append_number(out, is_known ? uint32_t(*data_bytes) : kMax, 4);
  return out;
}

class PlainEncoder final : public SoundEncoder {
 public:
  PlainEncoder(uint32_t rate, bool has_header, bool is_stream)
      : rate_(rate), has_header_(has_header), is_stream_(is_stream) {
    if (has_header && is_stream) bytes_ = wav_header(rate, {});
  }

  Result<std::string> add(std::span<const float> samples) override {
    for (const float sample : samples) {
      const float clipped = std::clamp(sample, -1.0f, 1.0f);
      append_number(bytes_, uint32_t(int32_t(std::lround(clipped * 32767))), 2);
    }
    return is_stream_ ? std::exchange(bytes_, {}) : std::string();
  }
  Result<std::string> finish() override {
    if (has_header_ && !is_stream_) bytes_.insert(0, wav_header(rate_, bytes_.size()));
    return std::exchange(bytes_, {});
  }

 private:
  uint32_t rate_;
  bool has_header_, is_stream_;
  std::string bytes_;  // that have not left
};

/// A file in memory as libsndfile writes it. What has left cannot be changed any more.
struct Target {
  std::string bytes;
  uint64_t first = 0, at = 0;  // where `bytes` begin in the file, and where the next ones go

  uint64_t end() const { return first + bytes.size(); }
};

sf_count_t target_length(void* own) {
  return sf_count_t(static_cast<Target*>(own)->end());
}
sf_count_t target_seek(sf_count_t offset, int from, void* own) {
  auto& target = *static_cast<Target*>(own);
  const uint64_t start = from == SEEK_SET ? 0 : from == SEEK_CUR ? target.at : target.end();
  const sf_count_t to = sf_count_t(start) + offset;
  if (to < sf_count_t(target.first) || to > sf_count_t(target.end())) return -1;
  target.at = uint64_t(to);
  return to;
}
sf_count_t target_read(void*, sf_count_t, void*) {
  return 0;
}
sf_count_t target_write(const void* from, sf_count_t count, void* own) {
  auto& target = *static_cast<Target*>(own);
  const size_t at = size_t(target.at - target.first), size = size_t(count);
  target.bytes.resize(std::max(target.bytes.size(), at + size));
  std::memcpy(target.bytes.data() + at, from, size);
  target.at += size;
  return count;
}
sf_count_t target_tell(void* own) {
  return sf_count_t(static_cast<Target*>(own)->at);
}

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

class SndfileEncoder final : public SoundEncoder {
 public:
  static Result<std::unique_ptr<SoundEncoder>> make(const Format& format, uint32_t rate,
                                                    bool is_stream) {
    const uint32_t own_rate = format.rate == 0 ? rate : format.rate;
    TOK_TRY(Resampler resampler, Resampler::open({.rate = rate}, own_rate));
    std::unique_ptr<SndfileEncoder> own(new SndfileEncoder(std::move(resampler), is_stream));
    SF_INFO info = {};
    info.samplerate = int(own_rate);
    info.channels = 1;
    info.format = format.sndfile;
    SF_VIRTUAL_IO io = {target_length, target_seek, target_read, target_write, target_tell};
    if (sf_format_check(&info) != 0) {
      own->file_.reset(sf_open_virtual(&io, SFM_WRITE, &info, &own->target_));
    }
    if (!own->file_) {
      return unsupported("{} cannot be written here at {} samples a second: {}", format.name,
                         own_rate, sf_strerror(nullptr));
    }
    sf_command(own->file_.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
    return std::unique_ptr<SoundEncoder>(std::move(own));
  }

  Result<std::string> add(std::span<const float> samples) override {
    TOK_TRY(resampler_.add(samples, resampled_));
    TOK_TRY(write());
    return is_stream_ ? taken() : std::string();
  }
  Result<std::string> finish() override {
    TOK_TRY(resampler_.finish(resampled_));
    TOK_TRY(write());
    file_.reset();
    return taken();
  }

 private:
  SndfileEncoder(Resampler resampler, bool is_stream)
      : resampler_(std::move(resampler)), is_stream_(is_stream) {}

  Result<void> write() {
    const auto count = sf_count_t(resampled_.size());
    if (sf_write_float(file_.get(), resampled_.data(), count) != count) {
      return invalid_input("The sound cannot be encoded: {}", sf_strerror(file_.get()));
    }
    resampled_.clear();
    return {};
  }
  std::string taken() {
    target_.first = target_.end();
    return std::exchange(target_.bytes, {});
  }

  Resampler resampler_;
  Samples resampled_;
  bool is_stream_;
  Target target_;
  std::unique_ptr<SNDFILE, Close> file_;  // goes before the target that it writes to
};

}  // namespace

std::optional<SoundFileFormat> sound_file_format(std::string_view name) {
  return find([&](const Format& format) { return format.name == name; });
}

std::optional<SoundFileFormat> sound_format_of_file(std::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == path.npos) return std::nullopt;
  const std::string ending = ascii_lower(path.substr(dot)) + ' ';
  return find([&](const Format& format) { return format.endings.find(ending) != ending.npos; });
}

std::string_view content_type(SoundFileFormat format) {
  return row_of(format).content_type;
}

Result<std::unique_ptr<SoundEncoder>> SoundEncoder::make(SoundFileFormat format, uint32_t rate,
                                                         bool is_stream) {
  const Format& row = row_of(format);
  if (row.sndfile != 0) return SndfileEncoder::make(row, rate, is_stream && row.streams);
  return std::make_unique<PlainEncoder>(rate, format == SoundFileFormat::kWav, is_stream);
}

}  // namespace tokamak
