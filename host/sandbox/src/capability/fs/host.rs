//! WASI's file functions: wasmtime-wasi's own, with our limits before those that write, make or open.

use std::{fs::File, sync::Arc};

use wasmtime::component::Resource;
use wasmtime_wasi::{
    filesystem::{Descriptor, WasiFilesystemCtxView},
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
    away::Fd,
    held::Full,
    open::{How, is_possible, open},
    streams::{Reads, Spent, Target, Writes},
};

/// What the guest sees of a limit that it ran into; the call's own end says which it was.
fn quota(_: Full) -> FsError {
    ErrorCode::Quota.into()
}

/// A file or directory in the table of a function that runs on its own thread.
fn copy(wasi: &WasiFilesystemCtxView<'_>, fd: &Fd) -> FsResult<Descriptor> {
    Ok(wasi.table.get(fd)?.clone())
}

/// A pipe or a device may do whatever it does when it is opened, so it is not opened. What is not there is left to
/// whoever opens it.
async fn refuse_what_waits(
    wasi: &mut WasiFilesystemCtxView<'_>,
    fd: &Fd,
    flags: PathFlags,
    path: &str,
) -> FsResult<()> {
    let stat = wasi.stat_at(Resource::new_borrow(fd.rep()), flags, path.to_owned()).await;
    match stat.map(|stat| stat.type_) {
        Err(_)
        | Ok(DescriptorType::RegularFile | DescriptorType::Directory | DescriptorType::SymbolicLink) => {
            Ok(())
        }
        Ok(_) => Err(ErrorCode::NotPermitted.into()),
    }
}

/// Opens something beneath a directory, and never waits for it.
async fn open_at(
    wasi: &mut WasiFilesystemCtxView<'_>,
    fd: Fd,
    path: String,
    how: How,
) -> FsResult<Descriptor> {
    match copy(wasi, &fd)? {
        Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        Descriptor::Dir(dir) if is_possible(&dir) => open(&dir, &path, how),
        // What was looked at before may have been exchanged since; an old kernel has no better way.
        Descriptor::Dir(_) => {
            let opened = wasi.open_at(fd, how.path, path, how.open, how.descriptor).await?;
            Ok(wasi.table.delete(opened)?)
        }
    }
}

impl View<'_> {
    /// The open file of a stream that is to be written.
    fn writable(&self, fd: &Fd) -> FsResult<Arc<File>> {
        match self.wasi.table.get(fd)? {
            Descriptor::File(file) if file.perms.write_not_permitted() => Err(ErrorCode::NotPermitted.into()),
            Descriptor::File(file) => Ok(Arc::clone(&file.file)),
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    fn writes(&mut self, fd: &Fd, target: Target) -> FsResult<Resource<DynOutputStream>> {
        let (file, place) = (self.writable(fd)?, self.held.place_of(fd.rep()));
        let writes = Writes::new(file, target, self.held.budget(), Arc::clone(self.meter), place);
        Ok(self.wasi.table.push(Box::new(writes) as DynOutputStream)?)
    }

    /// How many entries a directory has, if that is no more than may be listed.
    async fn entries(&mut self, fd: &Fd) -> FsResult<usize> {
        let most = self.held.may_list();
        let count = async move |wasi: &mut WasiFilesystemCtxView<'_>, [fd]: [Fd; 1]| {
            // What is no directory has no listing either.
            let Descriptor::Dir(dir) = copy(wasi, &fd)? else { return Ok(0) };
            let entries = rustix::fs::Dir::read_from(&*dir.dir).map_err(std::io::Error::from)?;
            Ok(entries.take(most + 1).count())
        };
        let entries = self.away([fd], count).await?;
        if entries > most { Err(quota(self.held.refuse_listing())) } else { Ok(entries) }
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
        let (how, budget) =
            (How { path: path_flags, open: open_flags, descriptor: flags }, self.held.budget());
        let opened = self
            .away([&fd], async move |wasi, [fd]| {
                refuse_what_waits(wasi, &fd, path_flags, &path).await?;
                if open_flags.contains(OpenFlags::CREATE) {
                    budget.make().map_err(quota)?;
                }
                open_at(wasi, fd, path, how).await
            })
            .await?;
        let opened = self.wasi.table.push(opened)?;
        self.held.keep(opened.rep(), place);
        Ok(opened)
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.held.close(fd.rep());
        HostDescriptor::drop(&mut self.wasi, fd)
    }

    async fn write(&mut self, fd: Fd, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.held.write(bytes.len() as u64).map_err(quota)?;
        let (file, budget) = (self.writable(&fd)?, self.held.budget());
        self.away([&fd], async move |wasi, [fd]| {
            budget.take_hole(file.metadata()?.len(), offset).map_err(quota)?;
            wasi.write(fd, bytes, offset).await
        })
        .await
    }

    async fn set_size(&mut self, fd: Fd, size: Filesize) -> FsResult<()> {
        let (file, budget) = (self.writable(&fd)?, self.held.budget());
        self.away([&fd], async move |wasi, [fd]| {
            budget.take_hole(file.metadata()?.len(), size).map_err(quota)?;
            wasi.set_size(fd, size).await
        })
        .await
    }

    fn write_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.writes(&fd, Target::At(offset))
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        self.writes(&fd, Target::End)
    }

    fn read_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let file = match self.wasi.table.get(&fd)? {
            Descriptor::File(file) => Arc::clone(&file.file),
            Descriptor::Dir(_) => return Err(ErrorCode::IsDirectory.into()),
        };
        let reads = Reads::new(file, offset, Arc::clone(self.meter), self.held.place_of(fd.rep()));
        Ok(self.wasi.table.push(Box::new(reads) as DynInputStream)?)
    }

    /// The host holds a listing as a whole, so it counts as an open directory of its own, and with all of its entries.
    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<DirectoryEntryStream>> {
        let place = self.held.place().map_err(quota)?;
        let entries = self.entries(&fd).await?;
        let list = async move |wasi: &mut WasiFilesystemCtxView<'_>, [fd]: [Fd; 1]| {
            let listing = wasi.read_directory(fd).await?;
            Ok(wasi.table.delete(listing)?)
        };
        let listing = self.away([&fd], list).await?;
        let listing = self.wasi.table.push(listing)?;
        self.held.keep_listing(listing.rep(), place, entries);
        Ok(listing)
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.held.make().map_err(quota)?;
        self.away([&fd], async move |wasi, [fd]| wasi.create_directory_at(fd, path).await).await
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
        self.away([&fd, &new_fd], async move |wasi, [fd, new_fd]| {
            wasi.link_at(fd, old_flags, old_path, new_fd, new_path).await
        })
        .await
    }

    async fn symlink_at(&mut self, fd: Fd, old_path: String, new_path: String) -> FsResult<()> {
        self.held.make().map_err(quota)?;
        self.away([&fd], async move |wasi, [fd]| wasi.symlink_at(fd, old_path, new_path).await).await
    }

    // What follows is wasmtime-wasi's, but for the thread that it runs on.

    async fn advise(&mut self, fd: Fd, offset: Filesize, len: Filesize, advice: Advice) -> FsResult<()> {
        self.away([&fd], async move |wasi, [fd]| wasi.advise(fd, offset, len, advice).await).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        self.away([&fd], async move |wasi, [fd]| wasi.sync_data(fd).await).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        self.away([&fd], async move |wasi, [fd]| wasi.get_flags(fd).await).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        self.away([&fd], async move |wasi, [fd]| wasi.get_type(fd).await).await
    }

    async fn set_times(&mut self, fd: Fd, accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<()> {
        self.away([&fd], async move |wasi, [fd]| wasi.set_times(fd, accessed, modified).await).await
    }

    async fn read(&mut self, fd: Fd, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.away([&fd], async move |wasi, [fd]| wasi.read(fd, len, offset).await).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        self.away([&fd], async move |wasi, [fd]| wasi.sync(fd).await).await
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        self.away([&fd], async move |wasi, [fd]| wasi.stat(fd).await).await
    }

    async fn stat_at(&mut self, fd: Fd, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.away([&fd], async move |wasi, [fd]| wasi.stat_at(fd, flags, path).await).await
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.away([&fd], async move |wasi, [fd]| {
            if !flags.contains(PathFlags::SYMLINK_FOLLOW) {
                return wasi.set_times_at(fd, flags, path, accessed, modified).await;
            }
            // Otherwise what the path leads to would be opened by wasmtime-wasi, which waits.
            match copy(wasi, &fd)? {
                Descriptor::Dir(dir) if dir.perms.write_not_permitted() => {
                    return Err(ErrorCode::NotPermitted.into());
                }
                _ => refuse_what_waits(wasi, &fd, flags, &path).await?,
            }
            let how = |descriptor| How { path: flags, open: OpenFlags::empty(), descriptor };
            let opened =
                match open_at(wasi, Resource::new_borrow(fd.rep()), path.clone(), how(DescriptorFlags::READ))
                    .await
                {
                    Err(error) if matches!(error.downcast_ref(), Some(ErrorCode::Access)) => {
                        open_at(wasi, fd, path, how(DescriptorFlags::WRITE)).await?
                    }
                    opened => opened?,
                };
            let opened = wasi.table.push(opened)?;
            wasi.set_times(opened, accessed, modified).await
        })
        .await
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        self.away([&fd], async move |wasi, [fd]| wasi.readlink_at(fd, path).await).await
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.away([&fd], async move |wasi, [fd]| wasi.remove_directory_at(fd, path).await).await
    }

    async fn rename_at(&mut self, fd: Fd, old_path: String, new_fd: Fd, new_path: String) -> FsResult<()> {
        self.away([&fd, &new_fd], async move |wasi, [fd, new_fd]| {
            wasi.rename_at(fd, old_path, new_fd, new_path).await
        })
        .await
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.away([&fd], async move |wasi, [fd]| wasi.unlink_file_at(fd, path).await).await
    }

    async fn is_same_object(&mut self, a: Fd, b: Fd) -> wasmtime::Result<bool> {
        let same = async move |wasi: &mut WasiFilesystemCtxView<'_>, [a, b]: [Fd; 2]| {
            wasi.is_same_object(a, b).await.map_err(FsError::trap)
        };
        let same = self.away([&a, &b], same).await;
        same.map_err(|error| error.downcast().map_or_else(|trap| trap, wasmtime::Error::from))
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        self.away([&fd], async move |wasi, [fd]| wasi.metadata_hash(fd).await).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.away([&fd], async move |wasi, [fd]| wasi.metadata_hash_at(fd, flags, path).await).await
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
