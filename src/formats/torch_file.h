// A module's state in the file that torch.save writes: a zip archive with a pickle that names the
// tensors, and a file for each storage. The weights are used where they are. Native programs only.
#pragma once
#include "formats/archive.h"
#include "formats/tensor_file.h"

namespace tokamak {

/// The tensors of the archive that is `weights`, a part of the source.
Result<TensorFile> read_torch_file(std::shared_ptr<ByteSource> source, const ArchivedFile& weights);

}  // namespace tokamak
