// Finds the apps whose bundles a project's specs may start: those on whose build its test depends, so that Nx
// has just built or verified them.
// Any other bundle may be outdated, so specs start the sources of those apps.
import path from 'node:path';
import { readJson } from './read-json.ts';

interface Project {
  readonly targets?: { readonly test?: { readonly dependsOn?: readonly string[] } };
}

/** Returns no apps if Nx did not start Jest. */
export async function builtApps(projectRoot: string, environment: NodeJS.ProcessEnv): Promise<string[]> {
  if (environment['NX_TASK_TARGET_TARGET'] !== 'test') return [];
  const project = await readProject(projectRoot);
  return (project?.targets?.test?.dependsOn ?? []).flatMap((task) =>
    task === 'build' ? [path.basename(projectRoot)] : (/^@muster\/(.+):build$/.exec(task)?.slice(1) ?? []),
  );
}

async function readProject(projectRoot: string): Promise<Project | undefined> {
  const ofTools = (await readJson(path.join(projectRoot, 'project.json'))) as Project | undefined;
  if (ofTools !== undefined) return ofTools;
  const manifest = (await readJson(path.join(projectRoot, 'package.json'))) as { nx?: Project } | undefined;
  return manifest?.nx;
}
