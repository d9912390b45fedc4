/**
 * Where a package comes from, as npm writes it: a registry compares it with what signs the package. In a workflow of GitHub
 * it is the repository of the workflow; elsewhere it is not known.
 */
export function repositoryOf(directory: string): object | undefined {
  const repository = process.env['GITHUB_REPOSITORY'];
  if (repository === undefined || repository === '') return undefined;
  return { type: 'git', url: `git+https://github.com/${repository}.git`, directory };
}
