/**
 * The repository of a package in npm's format. The npm registry compares it with the repository that signed
 * the package. Known only inside a GitHub workflow, undefined elsewhere.
 */
export function repositoryOf(directory: string): object | undefined {
  const repository = process.env['GITHUB_REPOSITORY'];
  if (repository === undefined || repository === '') return undefined;
  return { type: 'git', url: `git+https://github.com/${repository}.git`, directory };
}
