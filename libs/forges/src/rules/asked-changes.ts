/** The answers of forges about the changed files of a pull request, or of a branch. */
import { type ForgeKind, type ReportedFileChange } from '@muster/contract';
import { z } from 'zod';

const githubStatuses = {
  added: 'added',
  removed: 'deleted',
  modified: 'modified',
  changed: 'modified',
  unchanged: 'modified',
  renamed: 'renamed',
  copied: 'copied',
} as const;

const GithubFile = z.object({
  filename: z.string(),
  previous_filename: z.string().nullish(),
  status: z.enum(Object.keys(githubStatuses) as (keyof typeof githubStatuses)[]),
  additions: z.int(),
  deletions: z.int(),
  changes: z.int(),
  patch: z.string().nullish(),
});

/** GitHub leaves out the patch of a binary file, which has no changed lines, and of a file that is too large. */
const toGithubChange = (file: z.infer<typeof GithubFile>): ReportedFileChange => ({
  path: file.filename,
  oldPath: file.previous_filename ?? null,
  status: githubStatuses[file.status],
  additions: file.additions,
  deletions: file.deletions,
  binary: file.patch == null && file.changes === 0 && file.status !== 'renamed',
  patch: file.patch ?? null,
  truncated: file.patch == null && file.changes > 0,
});

const GitlabDiff = z.object({
  old_path: z.string(),
  new_path: z.string(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
  diff: z.string(),
  collapsed: z.boolean().nullish(),
  too_large: z.boolean().nullish(),
});

function toGitlabChange(file: z.infer<typeof GitlabDiff>): ReportedFileChange {
  const binary = file.diff.startsWith('Binary files ');
  return {
    path: file.new_path,
    oldPath: file.renamed_file ? file.old_path : null,
    status: file.new_file
      ? 'added'
      : file.deleted_file
        ? 'deleted'
        : file.renamed_file
          ? 'renamed'
          : 'modified',
    ...{ additions: null, deletions: null, binary },
    patch: binary || file.diff === '' ? null : file.diff.replace(/\n$/, ''),
    truncated: file.collapsed === true || file.too_large === true,
  };
}

/** A page of changed files. */
export interface ChangesPage {
  readonly files: readonly ReportedFileChange[];
  /** The commit with which the head is compared; null if the answer does not name it. */
  readonly baseSha: string | null;
}

export interface ChangesRequest {
  /** The path below the URL of the pull request, or of the repository for a branch. */
  readonly path: string;
  readonly isPaged: boolean;
  readonly read: (answer: unknown) => ChangesPage;
  /** The number of files at which the forge stops without saying so. */
  readonly cutAt: number | null;
}

const toPage = (files: readonly ReportedFileChange[], baseSha: string | null = null): ChangesPage => ({
  files,
  baseSha,
});

/** The request for the files of a pull request. Gitea and Forgejo answer with a diff instead. */
export const pullChangesRequests: Readonly<Record<'github' | 'gitlab', ChangesRequest>> = {
  github: {
    ...{ path: '/files?per_page=50', isPaged: true, cutAt: null },
    read: (answer) => toPage(z.array(GithubFile).parse(answer).map(toGithubChange)),
  },
  gitlab: {
    ...{ path: '/diffs?per_page=50', isPaged: true, cutAt: null },
    read: (answer) => toPage(z.array(GitlabDiff).parse(answer).map(toGitlabChange)),
  },
};

const GithubComparison = z.object({
  merge_base_commit: z.object({ sha: z.string() }),
  files: z.array(GithubFile),
});
const GitlabComparison = z.object({ diffs: z.array(GitlabDiff) });

/** The request that compares a head with a branch; undefined if the forge has none. */
export function branchChangesRequest(
  kind: ForgeKind,
  baseBranch: string,
  headSha: string,
): ChangesRequest | undefined {
  const [base, head] = [encodeURIComponent(baseBranch), encodeURIComponent(headSha)];
  if (kind === 'github')
    return {
      ...{ path: `/compare/${base}...${head}`, isPaged: false, cutAt: 300 },
      read: (answer) => {
        const { files, merge_base_commit: mergeBase } = GithubComparison.parse(answer);
        return toPage(files.map(toGithubChange), mergeBase.sha);
      },
    };
  if (kind === 'gitlab')
    return {
      ...{ path: `/repository/compare?from=${base}&to=${head}`, isPaged: false, cutAt: null },
      read: (answer) => toPage(GitlabComparison.parse(answer).diffs.map(toGitlabChange)),
    };
  return undefined;
}

const GithubPull = z.object({
  head: z.object({ sha: z.string() }),
  base: z.object({ sha: z.string() }),
  merge_base: z.string().nullish(),
});
const GitlabMerge = z.object({
  sha: z.string(),
  diff_refs: z.object({ base_sha: z.string().nullish() }).nullish(),
});

/** Reads the head and the base of a pull request. */
export function readPullHead(
  kind: ForgeKind,
  answer: unknown,
): { readonly headSha: string; readonly baseSha: string | null } {
  if (kind === 'gitlab') {
    const { sha, diff_refs: refs } = GitlabMerge.parse(answer);
    return { headSha: sha, baseSha: refs?.base_sha ?? null };
  }
  const { head, base, merge_base: mergeBase } = GithubPull.parse(answer);
  return { headSha: head.sha, baseSha: mergeBase ?? base.sha };
}
