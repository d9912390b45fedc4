// Which apps a project's specs may start from their bundles: those on whose build its test depends, so that Nx has just made
// them, or found that nothing has changed. Any other bundle may be an old one: of these, specs start the sources.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

interface Project {
  readonly targets?: { readonly test?: { readonly dependsOn?: readonly string[] } };
}

/** None where it was not Nx that started Jest. */
export async function builtApps(projectRoot: string, environment: NodeJS.ProcessEnv): Promise<string[]> {
  if (environment['NX_TASK_TARGET_TARGET'] !== 'test') return [];
  const project = await readProject(projectRoot);
  return (project?.targets?.test?.dependsOn ?? []).flatMap((task) =>
    task === 'build' ? [path.basename(projectRoot)] : (/^@muster\/(.+):build$/.exec(task)?.slice(1) ?? []),
  );
}

async function readProject(projectRoot: string): Promise<Project | undefined> {
  const read = async (name: string): Promise<unknown> => {
    const file = path.join(projectRoot, name);
    return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : undefined;
  };
  const ofTools = (await read('project.json')) as Project | undefined;
  return ofTools ?? ((await read('package.json')) as { nx?: Project } | undefined)?.nx;
}
