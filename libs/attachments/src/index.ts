/** Files that members and agents attach to stories, comments and executions. */
import { createExportsHandlers } from './operations/exports/handlers.ts';
import { createAttachmentsHandlers } from './operations/attachments/handlers.ts';
import { type AttachmentsConfig } from './operations/attachments/config.ts';

/** Creates the handlers of this library, by namespace, for an installation. */
export const attachmentsHandlers = (config: AttachmentsConfig) => ({
  attachments: createAttachmentsHandlers(config),
  exports: createExportsHandlers(config),
});

export { type AttachmentsConfig, defaultAttachmentsConfig } from './operations/attachments/config.ts';
export { type FilesContext, openFile, receiveFile, type RequestedAddress } from './files.ts';
export { createFileScanner } from './scan.ts';
export { removeAbandonedUploads, removeDueFiles } from './remove.ts';
export { attachmentsArchiveReaders } from './data/archive.ts';
export { openArchive } from './exports/download.ts';
export { type ExportContext, prepareExportRun } from './exports/write-export.ts';
export { loadPublishedExportKeys } from './data/export-keys.ts';
export { filesPath } from './rules/addresses.ts';
export { describeFilesConfigFault, filesEnvironment } from './storage/files-environment.ts';
export { openFileStorage, type OpenStorage } from './storage/open-storage.ts';
export { createFolderStorage } from './storage/folder.ts';
export { createS3Storage } from './storage/s3.ts';
export { type FileStorage } from './storage/storage.ts';
