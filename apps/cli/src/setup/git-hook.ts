/** The pre-commit hook of git, which refuses commits of files that someone else has locked. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '@muster/terminal';
import { gitHookName, type HookOptions, hookWords } from '../hook/names.ts';
import { formatShellCommand } from '../mcp/install.ts';
import { type SetupPart } from './parts.ts';
import { type SectionMarkers, putSection, readSection, removeSection } from './section.ts';

const markers: SectionMarkers = { start: '# muster:start', end: '# muster:end' };
const shebang = '#!/bin/sh\n';

/** Returns the file of the hook. Worktrees and `core.hooksPath` decide the folder. */
export async function preCommitFile(root: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--git-path', 'hooks/pre-commit'], {
      cwd: root,
    });
    return path.resolve(root, stdout.trim());
  } catch {
    throw new UsageError(`${root} is not in a git repository`);
  }
}

function sectionOf(options: HookOptions): string {
  const command = formatShellCommand(['muster', ...hookWords(gitHookName, 'git', options)]);
  const otherwise = options.isStrict
    ? ["else echo 'The muster command is not installed, so the locks were not checked.' >&2; exit 1"]
    : [];
  return [
    'if command -v muster >/dev/null 2>&1',
    `then ${command} </dev/null || exit 1`,
    ...otherwise,
    'fi',
  ].join('\n');
}

/** The section is the first part of the script, because a script may exit at any later line. */
function putAtStart(text: string, file: string, section: string): string {
  if (readSection(text, markers) !== undefined) return putSection(text, section, markers);
  const [first = ''] = text.split('\n', 1);
  if (text !== '' && !/^#!.*\b(ba|da|z|k)?sh\b/.test(first))
    throw new UsageError(`${file} is not a shell script, so it was not changed`);
  const rest = text === '' ? '' : text.slice(first.length + 1);
  return `${text === '' ? shebang : `${first}\n`}${putSection('', section, markers)}${rest}`;
}

export function preCommitPart(file: string): SetupPart {
  return {
    ...{ title: 'pre-commit hook', file, isShared: false, isExecutable: true },
    state: (text, options) => {
      const section = readSection(text, markers);
      if (section === undefined) return 'missing';
      return options === undefined || section === sectionOf(options.hooks) ? 'current' : 'outdated';
    },
    add: (text, { hooks }) => putAtStart(text, file, sectionOf(hooks)),
    remove: (text) => {
      const rest = removeSection(text, markers);
      return rest.trim() === shebang.trim() ? '' : rest;
    },
  };
}
