/** Parses the Dockerfile into stages, and finds the files of the repository that reach a build. */
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import dockerignore from '@balena/dockerignore';
import { Copy, DockerfileParser, type Env, From, type Instruction } from 'dockerfile-ast';
import { repositoryRoot } from '@muster/tools';

export const dockerfileText = await readFile(path.join(repositoryRoot, 'Dockerfile'), 'utf8');
const ignored = dockerignore
  .default()
  .add(await readFile(path.join(repositoryRoot, '.dockerignore'), 'utf8'));

interface Stage {
  readonly name: string;
  /** The image or the stage on which this stage is based. */
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

const parsed = DockerfileParser.parse(dockerfileText);

export const stages: readonly Stage[] = parsed.getInstructions().reduce<Stage[]>((found, instruction) => {
  if (instruction instanceof From) {
    const [base = ''] = instruction.getExpandedArguments().map((argument) => argument.getValue());
    return [...found, { name: instruction.getBuildStage() ?? base, base, instructions: [] }];
  }
  const last = found.at(-1);
  // Instructions before the first FROM are arguments.
  return last === undefined
    ? found
    : [...found.slice(0, -1), { ...last, instructions: [...last.instructions, instruction] }];
}, []);

/**
 * The names of the Dockerfile's final stages, which are also the names of their programs. Each final stage
 * becomes an image.
 */
export const programs: readonly string[] = stages
  .filter(({ name, base }) => (base === 'service' || base === 'program') && name !== 'service')
  .map(({ name }) => name);

export function stageOf(name: string): Stage {
  const stage = stages.find((one) => one.name === name);
  if (stage === undefined) throw new Error(`the Dockerfile has no stage ${name}`);
  return stage;
}

/** Returns the instructions of a stage, preceded by those of the stages on which it is based. */
export function instructionsOf(name: string): readonly Instruction[] {
  const { base, instructions } = stageOf(name);
  return stages.some((stage) => stage.name === base)
    ? [...instructionsOf(base), ...instructions]
    : instructions;
}

/** Returns the last instruction of the given kind, which overrides earlier instructions of that kind. */
export const lastOf = (stage: string, keyword: string): Instruction | undefined =>
  instructionsOf(stage).findLast((instruction) => instruction.getKeyword() === keyword);

export const variablesOf = (stage: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    instructionsOf(stage)
      .filter((instruction): instruction is Env => instruction.getKeyword() === 'ENV')
      .flatMap((env) => env.getProperties())
      .map((property) => [property.getName(), property.getValue() ?? '']),
  );

/** Returns the words of `ENTRYPOINT ["…"]` or of the command of a HEALTHCHECK. */
export function wordsOf(instruction: Instruction | undefined): string[] {
  const text = instruction?.getArgumentsContent() ?? '';
  return text.includes('[') ? (JSON.parse(text.slice(text.indexOf('['))) as string[]) : [];
}

export interface CopyStep {
  /** The stage from which the instruction copies. Undefined if it copies from the repository. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly to: string;
}

export function copyStep(instruction: Instruction): CopyStep {
  if (!(instruction instanceof Copy)) throw new Error('it copies nothing');
  const flags = instruction.getFlags();
  const words = instruction.getExpandedArguments().map((argument) => argument.getValue());
  return {
    from: flags.find((flag) => flag.getName() === 'from')?.getValue() ?? undefined,
    sources: words.slice(0, -1),
    to: words.at(-1) ?? '',
  };
}

export const copiesOf = (instructions: readonly Instruction[]): CopyStep[] =>
  instructions.filter((instruction) => instruction.getKeyword() === 'COPY').map(copyStep);

/** Returns true if .dockerignore excludes the file from the build. */
export const isIgnored = (file: string): boolean => file !== '' && ignored.ignores(file);

/** Returns the files and folders of the repository that match a source and reach the build. */
export async function matchesOf(source: string): Promise<string[]> {
  const found = await Array.fromAsync(glob(source, { cwd: repositoryRoot }));
  return found.filter((file) => !isIgnored(file)).toSorted();
}
