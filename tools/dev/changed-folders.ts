/**
 * Returns the folders of the changed files, each with the root of its project. A folder is a whole project, or
 * a part of a project that groups several. Files outside of all projects have none.
 */
export function changedFolders(
  changed: readonly string[],
  roots: readonly string[],
  isGroup: (root: string) => boolean,
): Map<string, string> {
  const innermostFirst = roots.toSorted((one, other) => other.length - one.length);
  const folders = new Map<string, string>();
  for (const file of changed) {
    const root = innermostFirst.find((one) => file.startsWith(`${one}/`));
    if (root === undefined) continue;
    const [part = ''] = file.slice(root.length + 1).split('/');
    folders.set(isGroup(root) ? `${root}/${part}` : root, root);
  }
  return folders;
}
