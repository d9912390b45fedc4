/** Renders the Helm chart, and compares it with the manifests for kustomize, from which it is made. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { chartFolder, helm, renderChart } from './chart.ts';
import { type Manifest, readFolder, typeFaults, validate } from './manifests.ts';

/** Puts manifests in one order, without what Helm adds: labels, hooks, the checksum, versions of images. */
const toComparable = (manifests: readonly Manifest[]): unknown[] =>
  manifests
    .map((manifest) => {
      const text = JSON.stringify(manifest, (key, value: unknown) =>
        /^(helm\.sh|app\.kubernetes\.io\/(managed-by|instance)|checksum\/env$|imagePullPolicy$)/.test(key)
          ? undefined
          : value,
      );
      const { metadata, ...rest } = JSON.parse(
        text.replaceAll(/("muster\/[a-z-]+):\d[^"]*"/g, '$1"'),
      ) as Manifest & {
        metadata: { annotations?: object };
      };
      const { annotations = {}, ...others } = metadata;
      return { ...rest, metadata: Object.keys(annotations).length > 0 ? metadata : others };
    })
    .toSorted((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`));

(helm === undefined ? describe.skip : describe)('the Helm chart', () => {
  it('is made of the manifests for kustomize, and of nothing else', async () => {
    const folders = await Promise.all(['services', 'migrations'].map(readFolder));
    const rendered = await renderChart();
    expect(toComparable(rendered)).toEqual(toComparable(folders.flatMap(({ manifests }) => manifests)));
    for (const manifest of rendered) await validate(manifest);
  });

  it('applies every value', async () => {
    const manifests = await renderChart('--values', path.join(chartFolder, '../values.example.yaml'));
    for (const manifest of manifests) await validate(manifest);
    expect(await typeFaults(manifests)).toEqual([]);
    const expected = parse(
      await readFile(path.join(chartFolder, '../example.expected.yaml'), 'utf8'),
    ) as Manifest[];
    for (const part of expected)
      expect(
        manifests.find(({ kind, metadata }) => kind === part.kind && metadata.name === part.metadata.name),
      ).toMatchObject(part);
    // KEDA sets the number of workers.
    const worker = manifests.find(
      ({ metadata, kind }) => `${kind} ${metadata.name}` === 'Deployment delivery-worker',
    );
    expect(worker).not.toHaveProperty('spec.replicas');
    expect(manifests.filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
    expect(JSON.stringify(manifests)).not.toContain('muster.example.com');
  });

  it.each([
    'hosts.muster=muster.acme.test',
    'trustProxy=10.42.0.0/16',
    'services.sign-in.env.LOG_LEVEL=debug',
  ])('restarts the pods when %s changes their variables', async (value) => {
    const signIn = (manifests: readonly Manifest[]) =>
      manifests.find(({ kind, metadata }) => `${kind} ${metadata.name}` === 'Deployment sign-in');
    expect(signIn(await renderChart('--set', value))).not.toEqual(signIn(await renderChart()));
  });

  it('purges licenses also without the migrations', async () => {
    const manifests = await renderChart('--set', 'migrations.enabled=false');
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names).toContain('CronJob purge-licenses');
    expect(names).not.toContain('Job migrate');
  });

  it.each([
    'colour=blue',
    'services.unknown.replicas=2',
    'services.docs.replicas=0',
    'services.docs.env.lower=a',
  ])('refuses the value %s', async (value) => {
    await expect(renderChart('--set', value)).rejects.toThrow(
      "values don't meet the specifications of the schema",
    );
  });

  it('passes the linter', async () => {
    await promisify(execFile)(helm ?? '', ['lint', '--strict', chartFolder]);
  });
});
