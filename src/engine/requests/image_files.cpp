// Images of files; in the browser the page decodes them.
#include "engine/requests/image_files.h"

#include "engine/requests/text_request.h"
#include "formats/native_files.h"
#include "image/decode.h"

namespace tokamak {

Result<Image> image_of_bytes(std::span<const std::byte> bytes) {
  return decode_image(bytes);
}

Result<Image> image_of_file(const std::string& path) {
  TOK_TRY(const auto file, open_file(path));
  TOK_TRY(const FileBytes bytes, file->view(0, file->size()));
  auto image = image_of_bytes({bytes.data(), bytes.size()});
  if (!image) return Failure(image.error().within(path));
  return image;
}

Result<std::vector<Image>> images_of(const TextRequest& asked) {
  std::vector<Image> out;
  for (size_t i = 0; i < asked.messages.size(); ++i) {
    for (const ChatImage& image : asked.messages[i].images) {
      if (image.path.empty() == image.bytes.empty()) {
        return fail(ErrorCode::kUsage,
                    "messages[{}]: an image has a path or bytes, expected one of both.", i);
      }
      auto own = image.path.empty() ? image_of_bytes(image.bytes) : image_of_file(image.path);
      if (!own && image.path.empty()) {
        return Failure(own.error().within(fmt::format("messages[{}]", i)));
      }
      TOK_TRY(Image decoded, std::move(own));
      out.push_back(std::move(decoded));
    }
  }
  return out;
}

}  // namespace tokamak
