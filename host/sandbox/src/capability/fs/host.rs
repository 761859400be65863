//! WASI's file functions: wasmtime-wasi's own, with our limits before those that write, make or open.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::{
    filesystem::Descriptor,
    p2::{
        DynInputStream, DynOutputStream, FsError, FsResult,
        bindings::filesystem::{
            preopens,
            types::{
                Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
                DirectoryEntryStream, ErrorCode, Filesize, Host, HostDescriptor, HostDirectoryEntryStream,
                MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
            },
        },
    },
};

use super::{
    View,
    held::Full,
    streams::{Reads, Spent, Writes},
};

type Fd = Resource<Descriptor>;

/// What the guest sees of a limit that it ran into; the call's own end says which it was.
fn quota(_: Full) -> FsError {
    ErrorCode::Quota.into()
}

impl View<'_> {
    /// What a stream of a file is given to write to.
    fn counted(
        &mut self,
        number: u32,
        stream: Resource<DynOutputStream>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let stream = self.wasi.table.delete(stream)?;
        let writes = Writes { stream, budget: self.held.budget(), _place: self.held.place_of(number) };
        Ok(self.wasi.table.push(Box::new(writes) as DynOutputStream)?)
    }

    /// How many entries a directory has, if that is no more than may be listed.
    async fn entries(&mut self, fd: &Fd) -> FsResult<usize> {
        // What is no directory has no listing either.
        let Descriptor::Dir(dir) = self.wasi.table.get(fd)? else { return Ok(0) };
        let (dir, most) = (Arc::clone(&dir.dir), self.held.may_list());
        let count = move || Ok(rustix::fs::Dir::read_from(&*dir)?.take(most + 1).count());
        let counted: std::io::Result<usize> =
            tokio::task::spawn_blocking(count).await.map_err(std::io::Error::other)?;
        let entries = counted?;
        if entries > most { Err(quota(self.held.refuse_listing())) } else { Ok(entries) }
    }

    /// Opening a pipe waits for its other end, on a thread that nothing can call back, and a few hundred of those would
    /// end all file access of the host; a device does whatever it does. What is not there is left to `open_at`.
    async fn refuse_what_waits(&mut self, fd: &Fd, flags: PathFlags, path: &str) -> FsResult<()> {
        let stat = self.wasi.stat_at(Resource::new_borrow(fd.rep()), flags, path.to_owned()).await;
        match stat.map(|stat| stat.type_) {
            Err(_)
            | Ok(DescriptorType::RegularFile | DescriptorType::Directory | DescriptorType::SymbolicLink) => {
                Ok(())
            }
            Ok(_) => Err(ErrorCode::NotPermitted.into()),
        }
    }
}

impl preopens::Host for View<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let Some((roots, effect)) = self.roots else { return Ok(Vec::new()) };
        let push = |root: &super::Root| {
            let dir = Descriptor::Dir(root.within(*effect).clone());
            Ok((self.wasi.table.push(dir)?, root.at.clone()))
        };
        roots.iter().map(push).collect()
    }
}

impl Host for View<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        if self.wasi.table.get(&error)?.is::<Spent>() {
            return Ok(Some(ErrorCode::Quota));
        }
        self.wasi.filesystem_error_code(error)
    }
}

impl HostDescriptor for View<'_> {
    async fn open_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Fd> {
        let place = self.held.place().map_err(quota)?;
        self.refuse_what_waits(&fd, path_flags, &path).await?;
        if open_flags.contains(OpenFlags::CREATE) {
            self.held.make().map_err(quota)?;
        }
        let opened = self.wasi.open_at(fd, path_flags, path, open_flags, flags).await?;
        self.held.keep(opened.rep(), place);
        Ok(opened)
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.held.close(fd.rep());
        HostDescriptor::drop(&mut self.wasi, fd)
    }

    async fn write(&mut self, fd: Fd, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.held.write(bytes.len() as u64).map_err(quota)?;
        self.wasi.write(fd, bytes, offset).await
    }

    async fn set_size(&mut self, fd: Fd, size: Filesize) -> FsResult<()> {
        let now = self.wasi.stat(Resource::new_borrow(fd.rep())).await?.size;
        self.held.write(size.saturating_sub(now)).map_err(quota)?;
        self.wasi.set_size(fd, size).await
    }

    fn write_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        let number = fd.rep();
        let stream = self.wasi.write_via_stream(fd, offset)?;
        self.counted(number, stream)
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        let number = fd.rep();
        let stream = self.wasi.append_via_stream(fd)?;
        self.counted(number, stream)
    }

    fn read_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let place = self.held.place_of(fd.rep());
        let stream = self.wasi.read_via_stream(fd, offset)?;
        let stream = self.wasi.table.delete(stream)?;
        Ok(self.wasi.table.push(Box::new(Reads { stream, _place: place }) as DynInputStream)?)
    }

    /// The host holds a listing as a whole, so it counts as an open directory of its own, and with all of its entries.
    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<DirectoryEntryStream>> {
        let place = self.held.place().map_err(quota)?;
        let entries = self.entries(&fd).await?;
        let listing = self.wasi.read_directory(fd).await?;
        self.held.keep_listing(listing.rep(), place, entries);
        Ok(listing)
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.held.make().map_err(quota)?;
        self.wasi.create_directory_at(fd, path).await
    }

    async fn link_at(
        &mut self,
        fd: Fd,
        old_flags: PathFlags,
        old_path: String,
        new_fd: Fd,
        new_path: String,
    ) -> FsResult<()> {
        self.held.make().map_err(quota)?;
        self.wasi.link_at(fd, old_flags, old_path, new_fd, new_path).await
    }

    async fn symlink_at(&mut self, fd: Fd, old_path: String, new_path: String) -> FsResult<()> {
        self.held.make().map_err(quota)?;
        self.wasi.symlink_at(fd, old_path, new_path).await
    }

    // What follows is passed on as it is.

    async fn advise(&mut self, fd: Fd, offset: Filesize, len: Filesize, advice: Advice) -> FsResult<()> {
        self.wasi.advise(fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        self.wasi.sync_data(fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        self.wasi.get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        self.wasi.get_type(fd).await
    }

    async fn set_times(&mut self, fd: Fd, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        self.wasi.set_times(fd, accessed, modified).await
    }

    async fn read(&mut self, fd: Fd, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.wasi.read(fd, len, offset).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        self.wasi.sync(fd).await
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        self.wasi.stat(fd).await
    }

    async fn stat_at(&mut self, fd: Fd, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.wasi.stat_at(fd, flags, path).await
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.wasi.set_times_at(fd, flags, path, accessed, modified).await
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        self.wasi.readlink_at(fd, path).await
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.wasi.remove_directory_at(fd, path).await
    }

    async fn rename_at(&mut self, fd: Fd, old_path: String, new_fd: Fd, new_path: String) -> FsResult<()> {
        self.wasi.rename_at(fd, old_path, new_fd, new_path).await
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.wasi.unlink_file_at(fd, path).await
    }

    async fn is_same_object(&mut self, a: Fd, b: Fd) -> wasmtime::Result<bool> {
        self.wasi.is_same_object(a, b).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        self.wasi.metadata_hash(fd).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.wasi.metadata_hash_at(fd, flags, path).await
    }
}

impl HostDirectoryEntryStream for View<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.wasi.read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.held.close(stream.rep());
        HostDirectoryEntryStream::drop(&mut self.wasi, stream)
    }
}
