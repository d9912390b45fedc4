/** The changes of an execution: the files that differ between its base and its head, and their patches. */

/** The name of the attachment in which a runner uploads the diff of its work. */
export const changesFileName = 'changes.diff';

/** The maximum size of an uploaded diff, and of all patches of one head together: 8 MiB. */
export const maxChangesBytes = 8 * 1024 * 1024;
