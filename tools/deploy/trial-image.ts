/**
 * Runs the steps of a Dockerfile build in a folder instead of an image. It uses the packages that are
 * installed here instead of `npm ci`.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Instruction } from 'dockerfile-ast';
import { repositoryRoot } from '@muster/tools';
import { linkPackages } from '../jest/trial-workspace.ts';
import {
  copiesOf,
  copyStep,
  type CopyStep,
  instructionsOf,
  isIgnored,
  lastOf,
  matchesOf,
  stageOf,
  variablesOf,
  wordsOf,
} from './dockerfile.ts';

export interface TrialImage {
  /** The content of /app in the image. */
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The arguments of ENTRYPOINT, without Node itself. */
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** Runs the HEALTHCHECK against a service with the given environment variables. */
  readonly isHealthy: (environment: Readonly<Record<string, string>>) => Promise<boolean>;
  readonly remove: () => Promise<void>;
}

const withoutNode = (words: readonly string[]): string[] => {
  if (words[0] !== '/usr/local/bin/node') throw new Error(`${words[0]} is not the Node of the image`);
  return words.slice(1);
};

/** Builds the image of an app as a folder. */
export async function buildImage(app: string): Promise<TrialImage> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-image-')));
  const folder = path.join(root, 'app');
  try {
    await buildStage(`build-${app}`, path.join(root, 'build'));
    for (const { from, sources } of copiesOf(stageOf(app).instructions)) {
      if (from !== `build-${app}`) throw new Error(`${app} is copied from ${from}`);
      for (const source of sources) await cp(path.join(root, source), folder, { recursive: true });
    }
  } catch (error) {
    await rm(root, { recursive: true });
    throw error;
  }
  return {
    folder,
    variables: variablesOf(app),
    entrypoint: withoutNode(wordsOf(lastOf(app, 'ENTRYPOINT'))),
    command: wordsOf(lastOf(app, 'CMD')),
    isHealthy: (environment) =>
      promisify(execFile)(process.execPath, withoutNode(wordsOf(lastOf(app, 'HEALTHCHECK'))), {
        env: { ...environment },
      }).then(
        () => true,
        () => false,
      ),
    remove: () => rm(root, { recursive: true }),
  };
}

async function buildStage(name: string, work: string): Promise<void> {
  for (const instruction of instructionsOf(name)) {
    switch (instruction.getKeyword()) {
      case 'WORKDIR':
        break;
      case 'COPY':
        await copyInto(work, copyStep(instruction));
        break;
      case 'RUN':
        await runIn(work, instruction);
        break;
      default:
        throw new Error(`trial-image.ts does not know ${instruction.getKeyword()} in a stage that builds`);
    }
  }
}

async function copyInto(work: string, { from, sources, to }: CopyStep): Promise<void> {
  if (from !== undefined) {
    const other = await mkdtemp(path.join(path.dirname(work), `${from}-`));
    await buildStage(from, path.join(other, 'build'));
    for (const source of sources)
      await cp(path.join(other, source), path.join(work, to), { recursive: true });
    await rm(other, { recursive: true });
    return;
  }
  for (const source of sources) {
    for (const file of await matchesOf(source)) {
      const place = to === file ? file : path.join(to, path.basename(file));
      await mkdir(path.dirname(path.join(work, place)), { recursive: true });
      await cp(path.join(repositoryRoot, file), path.join(work, place), {
        recursive: true,
        filter: (inner) => !isIgnored(path.relative(repositoryRoot, inner)),
      });
    }
  }
}

async function runIn(work: string, instruction: Instruction): Promise<void> {
  const command = (instruction.getArgumentsContent() ?? '').replace(/^(--\S+\s+)+/, '');
  if (command.startsWith('npm ci ')) {
    await linkPackages(work);
    return;
  }
  await promisify(execFile)('sh', ['-euc', command], {
    cwd: work,
    env: { PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}` },
  });
}
