#include "model/gguf/import.h"

#include "model/gguf/architecture.h"

namespace tokamak {
namespace {

struct FileType {
  int64_t number;
  std::string_view name;
};
// llama.h, enum llama_ftype.
constexpr FileType kFileTypes[] = {
    {0, "F32"},      {1, "F16"},      {2, "Q4_0"},    {3, "Q4_1"},    {7, "Q8_0"},
    {8, "Q5_0"},     {9, "Q5_1"},     {10, "Q2_K"},   {11, "Q3_K_S"}, {12, "Q3_K_M"},
    {13, "Q3_K_L"},  {14, "Q4_K_S"},  {15, "Q4_K_M"}, {16, "Q5_K_S"}, {17, "Q5_K_M"},
    {18, "Q6_K"},    {19, "IQ2_XXS"}, {20, "IQ2_XS"}, {21, "Q2_K_S"}, {22, "IQ3_XS"},
    {23, "IQ3_XXS"}, {24, "IQ1_S"},   {25, "IQ4_NL"}, {26, "IQ3_S"},  {27, "IQ3_M"},
    {28, "IQ2_S"},   {29, "IQ2_M"},   {30, "IQ4_XS"}, {31, "IQ1_M"},  {32, "BF16"},
    {36, "TQ1_0"},   {37, "TQ2_0"},   {38, "MXFP4"},
};

Result<const gguf::Architecture*> find_gguf_architecture(const GgufFile& file) {
  ConfigReader reader(file.metadata.values(), file.metadata.file_name());
  const std::string name = reader.word("general.architecture");
  TOK_TRY(reader.status());
  if (is_gguf_projector(file.metadata)) {
    return unsupported(
        "{} is \"{}\": this is a tower of images (mmproj); expected the file of the "
        "text beside it.",
        reader.path("general.architecture"), name);
  }
  std::string known;
  for (const auto rows :
       {gguf::architectures(), gguf::decoders(), gguf::encoders(), gguf::families()}) {
    for (const gguf::Architecture& architecture : rows) {
      if (architecture.gguf == name) return &architecture;
      known += (known.empty() ? "" : ", ") + std::string(architecture.gguf);
    }
  }
  return unsupported("{} is \"{}\"; this engine reads {} from GGUF files.",
                     reader.path("general.architecture"), name, known);
}

}  // namespace

Result<GgufModel> import_gguf(const GgufFile& file) {
  TOK_TRY(const gguf::Architecture* architecture, find_gguf_architecture(file));
  TOK_TRY(Json config, gguf::make_config(file, *architecture));
  const auto sources = file.tensors.sources();
  TOK_TRY(TensorFile tensors, TensorFile::make({sources.begin(), sources.end()},
                                               gguf::rename_tensors(file, *architecture, config),
                                               file.metadata.values()));
  return GgufModel{std::move(config), std::move(tensors)};
}

std::string_view gguf_file_type_name(int64_t type) {
  for (const FileType& one : kFileTypes) {
    if (one.number == type) return one.name;
  }
  return "";
}

std::optional<uint32_t> gguf_file_type_number(std::string_view name) {
  for (const FileType& one : kFileTypes) {
    if (one.name == name) return uint32_t(one.number);
  }
  return std::nullopt;
}

}  // namespace tokamak
