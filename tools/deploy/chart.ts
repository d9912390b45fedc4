/** Renders the Helm chart. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { findProgram, repositoryRoot } from '@muster/tools';
import { type Manifest } from './manifests.ts';

export const chartFolder = path.join(repositoryRoot, 'tools/deploy/helm/muster');
export const helm = process.env['HELM'] ?? findProgram(['helm']);

/** Renders the chart with options such as `--set image.tag=1.2.0`. Throws what helm says if it refuses them. */
export async function renderChart(...options: readonly string[]): Promise<Manifest[]> {
  const args = ['template', 'muster', chartFolder, '--namespace', 'muster', ...options];
  const { stdout } = await promisify(execFile)(helm ?? '', args, { maxBuffer: 16 * 1024 * 1024 });
  return parseAllDocuments(stdout, { uniqueKeys: true }).map((document) => document.toJS() as Manifest);
}
