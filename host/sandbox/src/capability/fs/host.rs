//! WASI's file functions: wasmtime-wasi's own, with our limits before those that write, make or open.

use std::{fs::File, sync::Arc};

use wasmtime::component::Resource;
use wasmtime_wasi::{
    filesystem::{Descriptor, Dir, WasiFilesystemCtxView},
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
    blocking::FdResource,
    directory::count_entries,
    open::{OpenHow, open_beneath},
    quota::QuotaExceeded,
    streams::{ReadStream, WriteLimitExceeded, WriteStream, WriteTarget},
    view::FsView,
};

/// Converts an exceeded limit to the guest's error, which does not say which limit; the end of the call does.
fn quota_error(_: QuotaExceeded) -> FsError {
    ErrorCode::Quota.into()
}

/// Copies a file or directory out of a table.
fn copy(wasi: &WasiFilesystemCtxView<'_>, fd: &FdResource) -> FsResult<Descriptor> {
    Ok(wasi.table.get(fd)?.clone())
}

/// Refuses pipes and devices, since opening one may wait or have effects. A missing file is left to the open itself.
async fn refuse_special_file(
    wasi: &mut WasiFilesystemCtxView<'_>,
    fd: &FdResource,
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

/// Opens something beneath a directory without waiting for it.
async fn open_at(
    wasi: &mut WasiFilesystemCtxView<'_>,
    fd: FdResource,
    path: String,
    how: OpenHow,
) -> FsResult<Descriptor> {
    match copy(wasi, &fd)? {
        Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        Descriptor::Dir(dir) => match open_beneath(&dir, &path, how) {
            Some(opened) => opened,
            // The file that was checked may have been replaced since; systems other than Linux, and old kernels, have no
            // better way.
            None => {
                let opened = wasi.open_at(fd, how.path, path, how.open, how.descriptor).await?;
                Ok(wasi.table.delete(opened)?)
            }
        },
    }
}

impl FsView<'_> {
    /// Returns the file of a stream that is to be written.
    fn writable_file(&self, fd: &FdResource) -> FsResult<Arc<File>> {
        match self.wasi.table.get(fd)? {
            Descriptor::File(file) if file.perms.write_not_permitted() => Err(ErrorCode::NotPermitted.into()),
            Descriptor::File(file) => Ok(Arc::clone(&file.file)),
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    fn open_write_stream(
        &mut self,
        fd: &FdResource,
        target: WriteTarget,
    ) -> FsResult<Resource<DynOutputStream>> {
        let (file, slot) = (self.writable_file(fd)?, self.quota.slot(fd.rep()));
        let stream = WriteStream::new(file, target, self.quota.budget(), Arc::clone(self.meter), slot);
        Ok(self.wasi.table.push(Box::new(stream) as DynOutputStream)?)
    }

    /// Counts the entries of a directory, unless there are more than may be listed.
    async fn count_entries(&mut self, fd: &FdResource) -> FsResult<usize> {
        let max = self.quota.list_capacity();
        let count = async move |wasi: &mut WasiFilesystemCtxView<'_>, [fd]: [FdResource; 1]| {
            // The listing itself will fail.
            let Descriptor::Dir(dir) = copy(wasi, &fd)? else { return Ok(0) };
            Ok(count_entries(&dir.dir, max + 1)?)
        };
        let entries = self.run_blocking([fd], count).await?;
        if entries > max { Err(quota_error(self.quota.refuse_listing())) } else { Ok(entries) }
    }
}

impl preopens::Host for FsView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(FdResource, String)>> {
        let table = &mut self.wasi.table;
        let push = |(at, dir): (&str, &Dir)| Ok((table.push(Descriptor::Dir(dir.clone()))?, at.to_owned()));
        self.dirs.list().map(push).collect()
    }
}

impl Host for FsView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        if self.wasi.table.get(&error)?.is::<WriteLimitExceeded>() {
            return Ok(Some(ErrorCode::Quota));
        }
        self.wasi.filesystem_error_code(error)
    }
}

impl HostDescriptor for FsView<'_> {
    async fn open_at(
        &mut self,
        fd: FdResource,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<FdResource> {
        let slot = self.quota.open_slot().map_err(quota_error)?;
        let (how, budget) =
            (OpenHow { path: path_flags, open: open_flags, descriptor: flags }, self.quota.budget());
        let opened = self
            .run_blocking([&fd], async move |wasi, [fd]| {
                refuse_special_file(wasi, &fd, path_flags, &path).await?;
                if open_flags.contains(OpenFlags::CREATE) {
                    budget.take_created().map_err(quota_error)?;
                }
                open_at(wasi, fd, path, how).await
            })
            .await?;
        let opened = self.wasi.table.push(opened)?;
        self.quota.insert_file(opened.rep(), slot);
        Ok(opened)
    }

    fn drop(&mut self, fd: FdResource) -> wasmtime::Result<()> {
        self.quota.close(fd.rep());
        HostDescriptor::drop(&mut self.wasi, fd)
    }

    async fn write(&mut self, fd: FdResource, bytes: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.quota.take_written(bytes.len() as u64).map_err(quota_error)?;
        let (file, budget) = (self.writable_file(&fd)?, self.quota.budget());
        self.run_blocking([&fd], async move |wasi, [fd]| {
            budget.take_hole(file.metadata()?.len(), offset).map_err(quota_error)?;
            wasi.write(fd, bytes, offset).await
        })
        .await
    }

    async fn set_size(&mut self, fd: FdResource, size: Filesize) -> FsResult<()> {
        let (file, budget) = (self.writable_file(&fd)?, self.quota.budget());
        self.run_blocking([&fd], async move |wasi, [fd]| {
            budget.take_hole(file.metadata()?.len(), size).map_err(quota_error)?;
            wasi.set_size(fd, size).await
        })
        .await
    }

    fn write_via_stream(&mut self, fd: FdResource, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.open_write_stream(&fd, WriteTarget::At(offset))
    }

    fn append_via_stream(&mut self, fd: FdResource) -> FsResult<Resource<DynOutputStream>> {
        self.open_write_stream(&fd, WriteTarget::End)
    }

    fn read_via_stream(&mut self, fd: FdResource, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        let file = match self.wasi.table.get(&fd)? {
            Descriptor::File(file) => Arc::clone(&file.file),
            Descriptor::Dir(_) => return Err(ErrorCode::IsDirectory.into()),
        };
        let stream = ReadStream::new(file, offset, Arc::clone(self.meter), self.quota.slot(fd.rep()));
        Ok(self.wasi.table.push(Box::new(stream) as DynInputStream)?)
    }

    /// Counts a listing as an open directory, and all of its entries: the host holds it as a whole.
    async fn read_directory(&mut self, fd: FdResource) -> FsResult<Resource<DirectoryEntryStream>> {
        let slot = self.quota.open_slot().map_err(quota_error)?;
        let entries = self.count_entries(&fd).await?;
        let list = async move |wasi: &mut WasiFilesystemCtxView<'_>, [fd]: [FdResource; 1]| {
            let listing = wasi.read_directory(fd).await?;
            Ok(wasi.table.delete(listing)?)
        };
        let listing = self.run_blocking([&fd], list).await?;
        let listing = self.wasi.table.push(listing)?;
        self.quota.insert_listing(listing.rep(), slot, entries);
        Ok(listing)
    }

    async fn create_directory_at(&mut self, fd: FdResource, path: String) -> FsResult<()> {
        self.quota.take_created().map_err(quota_error)?;
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.create_directory_at(fd, path).await).await
    }

    async fn link_at(
        &mut self,
        fd: FdResource,
        old_flags: PathFlags,
        old_path: String,
        new_fd: FdResource,
        new_path: String,
    ) -> FsResult<()> {
        self.quota.take_created().map_err(quota_error)?;
        self.run_blocking([&fd, &new_fd], async move |wasi, [fd, new_fd]| {
            wasi.link_at(fd, old_flags, old_path, new_fd, new_path).await
        })
        .await
    }

    async fn symlink_at(&mut self, fd: FdResource, old_path: String, new_path: String) -> FsResult<()> {
        self.quota.take_created().map_err(quota_error)?;
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.symlink_at(fd, old_path, new_path).await).await
    }

    // The functions below are wasmtime-wasi's, run on another thread.

    async fn advise(
        &mut self,
        fd: FdResource,
        offset: Filesize,
        len: Filesize,
        advice: Advice,
    ) -> FsResult<()> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.advise(fd, offset, len, advice).await).await
    }

    async fn sync_data(&mut self, fd: FdResource) -> FsResult<()> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.sync_data(fd).await).await
    }

    async fn get_flags(&mut self, fd: FdResource) -> FsResult<DescriptorFlags> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.get_flags(fd).await).await
    }

    async fn get_type(&mut self, fd: FdResource) -> FsResult<DescriptorType> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.get_type(fd).await).await
    }

    async fn set_times(
        &mut self,
        fd: FdResource,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.set_times(fd, accessed, modified).await).await
    }

    async fn read(&mut self, fd: FdResource, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.read(fd, len, offset).await).await
    }

    async fn sync(&mut self, fd: FdResource) -> FsResult<()> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.sync(fd).await).await
    }

    async fn stat(&mut self, fd: FdResource) -> FsResult<DescriptorStat> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.stat(fd).await).await
    }

    async fn stat_at(&mut self, fd: FdResource, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.stat_at(fd, flags, path).await).await
    }

    async fn set_times_at(
        &mut self,
        fd: FdResource,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.run_blocking([&fd], async move |wasi, [fd]| {
            if !flags.contains(PathFlags::SYMLINK_FOLLOW) {
                return wasi.set_times_at(fd, flags, path, accessed, modified).await;
            }
            // wasmtime-wasi would open the file, and wait for it.
            match copy(wasi, &fd)? {
                Descriptor::Dir(dir) if dir.perms.write_not_permitted() => {
                    return Err(ErrorCode::NotPermitted.into());
                }
                _ => refuse_special_file(wasi, &fd, flags, &path).await?,
            }
            let how = |descriptor| OpenHow { path: flags, open: OpenFlags::empty(), descriptor };
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

    async fn readlink_at(&mut self, fd: FdResource, path: String) -> FsResult<String> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.readlink_at(fd, path).await).await
    }

    async fn remove_directory_at(&mut self, fd: FdResource, path: String) -> FsResult<()> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.remove_directory_at(fd, path).await).await
    }

    async fn rename_at(
        &mut self,
        fd: FdResource,
        old_path: String,
        new_fd: FdResource,
        new_path: String,
    ) -> FsResult<()> {
        self.run_blocking([&fd, &new_fd], async move |wasi, [fd, new_fd]| {
            wasi.rename_at(fd, old_path, new_fd, new_path).await
        })
        .await
    }

    async fn unlink_file_at(&mut self, fd: FdResource, path: String) -> FsResult<()> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.unlink_file_at(fd, path).await).await
    }

    async fn is_same_object(&mut self, a: FdResource, b: FdResource) -> wasmtime::Result<bool> {
        let same = async move |wasi: &mut WasiFilesystemCtxView<'_>, [a, b]: [FdResource; 2]| {
            wasi.is_same_object(a, b).await.map_err(FsError::trap)
        };
        let same = self.run_blocking([&a, &b], same).await;
        same.map_err(|error| error.downcast().map_or_else(|trap| trap, wasmtime::Error::from))
    }

    async fn metadata_hash(&mut self, fd: FdResource) -> FsResult<MetadataHashValue> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.metadata_hash(fd).await).await
    }

    async fn metadata_hash_at(
        &mut self,
        fd: FdResource,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.run_blocking([&fd], async move |wasi, [fd]| wasi.metadata_hash_at(fd, flags, path).await).await
    }
}

impl HostDirectoryEntryStream for FsView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.wasi.read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.quota.close(stream.rep());
        HostDirectoryEntryStream::drop(&mut self.wasi, stream)
    }
}
