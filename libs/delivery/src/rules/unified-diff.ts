/** Reads a diff in git's unified format. The text may come from anyone, so each line is read once. */
import { type ChangedFileStatus, type ReportedFileChange } from '@muster/contract';

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' };

/** Files with a longer path are left out. */
const maxPathLength = 4_096;

/** Returns the path of git's notation, which quotes unusual names: `"a/\303\244.txt"`. */
function unquote(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"') || name.length < 2) return name;
  const parts: Buffer[] = [];
  for (const [, octal, sign, plain] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gsu))
    parts.push(
      octal === undefined
        ? Buffer.from(plain ?? escapes[sign ?? ''] ?? sign ?? '')
        : Buffer.of(Number.parseInt(octal, 8) & 0xff),
    );
  return Buffer.concat(parts).toString();
}

/** Returns the path behind `a/` or `b/`; undefined for `/dev/null`. */
function parseSidePath(text: string): string | undefined {
  // Git ends a path with blanks by a tab.
  const path = unquote(text.replace(/\t$/, ''));
  return path === '/dev/null' ? undefined : path.slice(2);
}

/** Returns the path of `a/PATH b/PATH`, which names one path twice. */
function parseTitlePath(title: string): string {
  const middle = (title.length - 1) / 2;
  if (title.startsWith('"')) return unquote(title.slice(0, middle)).slice(2);
  return title.slice(2, middle);
}

interface FileHeader {
  title: string;
  status: ChangedFileStatus;
  renamedFrom: string | undefined;
  to: string | undefined;
  oldPath: string | undefined;
  newPath: string | undefined;
  isBinary: boolean;
}

function readHeaderLine(header: FileHeader, line: string): void {
  const after = (prefix: string): string | undefined =>
    line.startsWith(prefix) ? line.slice(prefix.length) : undefined;
  const [from, to] = [after('rename from ') ?? after('copy from '), after('rename to ') ?? after('copy to ')];
  if (from !== undefined) header.renamedFrom = unquote(from);
  if (to !== undefined) header.to = unquote(to);
  if (line.startsWith('rename from ')) header.status = 'renamed';
  else if (line.startsWith('copy from ')) header.status = 'copied';
  else if (line.startsWith('new file mode ')) header.status = 'added';
  else if (line.startsWith('deleted file mode ')) header.status = 'deleted';
  else if (line.startsWith('--- ')) header.oldPath = parseSidePath(line.slice(4));
  else if (line.startsWith('+++ ')) header.newPath = parseSidePath(line.slice(4));
  else if (/^(Binary files .* differ|GIT binary patch)$/.test(line)) header.isBinary = true;
}

/** Counts the added and deleted lines of hunks. */
export function countPatchLines(patch: string): { additions: number; deletions: number } {
  let [additions, deletions] = [0, 0];
  for (const [sign] of patch.matchAll(/^[+-]/gm)) {
    if (sign === '+') additions += 1;
    else deletions += 1;
  }
  return { additions, deletions };
}

function toFileChange(header: FileHeader, hunks: readonly string[]): ReportedFileChange | undefined {
  const { status, renamedFrom: from, to, oldPath: before, newPath: after, isBinary: binary } = header;
  const path = to ?? after ?? before ?? parseTitlePath(header.title);
  if (path === '' || path.length > maxPathLength || (from ?? '').length > maxPathLength) return undefined;
  const patch = hunks.join('\n');
  return {
    ...{ path, oldPath: from ?? null, status, binary, truncated: false },
    ...countPatchLines(patch),
    patch: binary ? null : patch,
  };
}

/** Splits a diff into its files. Lines before the first file, such as the message of a commit, are skipped. */
export function parseUnifiedDiff(diff: string): ReportedFileChange[] {
  const files: ReportedFileChange[] = [];
  let header: FileHeader | undefined;
  let hunks: string[] = [];
  let isInHunk = false;
  const finish = (): void => {
    const file = header && toFileChange(header, hunks);
    if (file !== undefined) files.push(file);
  };
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const bare = line.replace(/\r$/, '');
    // Each line of a hunk begins with a sign, so a line of the code cannot begin a file.
    if (bare.startsWith('diff --git ')) {
      finish();
      header = {
        ...{ title: bare.slice('diff --git '.length), status: 'modified', isBinary: false },
        ...{ renamedFrom: undefined, to: undefined, oldPath: undefined, newPath: undefined },
      };
      [hunks, isInHunk] = [[], false];
    } else if (header !== undefined) {
      isInHunk ||= line.startsWith('@@ ');
      if (isInHunk) hunks.push(line);
      else readHeaderLine(header, bare);
    }
  }
  finish();
  return files;
}
