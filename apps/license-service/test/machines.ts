/** Machines that each have a licensed program, and an attacker between the machines and the service. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from '@jest/globals';
import { createLicenseClient, type LicenseClient, type LicenseClientOptions } from '@muster/license-client';
import { type InterceptingProxy, startInterceptingProxy } from './middle.ts';
import { type LicenseWorld, openLicenseWorld } from './world.ts';

export interface InstalledClient extends LicenseClient {
  readonly file: string;
  readonly folder: string;
}

export interface Machines {
  readonly world: LicenseWorld;
  readonly serviceUrl: string;
  /** Makes the service read its keys and products again. */
  readonly refresh: () => Promise<void>;
  readonly middle: InterceptingProxy;
  /** Installs a program on a separate machine. */
  install(options?: Partial<LicenseClientOptions>): InstalledClient;
  activateClient(): Promise<{ client: InstalledClient; key: string; id: string }>;
  close(): Promise<void>;
}

export const readStoredLicense = async (client: InstalledClient) =>
  JSON.parse(await readFile(client.file, 'utf8')) as { readonly certificate: string };

export async function openMachines(): Promise<Machines> {
  const world = await openLicenseWorld();
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-license-client-'));
  const { url: serviceUrl, refreshKeys } = await world.start();
  const middle = await startInterceptingProxy(serviceUrl);
  let count = 0;

  const install: Machines['install'] = (options = {}) => {
    count += 1;
    const own = options.folder ?? path.join(folder, String(count));
    const client = createLicenseClient({
      ...{ url: middle.url, product: 'demo', folder: own, machineId: `machine-${count}`, patienceSeconds: 0 },
      ...options,
    });
    return { ...client, folder: own, file: path.join(own, 'license.json') };
  };

  return {
    ...{ world, serviceUrl, refresh: refreshKeys, middle, install },
    activateClient: async () => {
      const { key, id } = await world.issue({ term: { kind: 'perpetual' } });
      const client = install();
      expect(await client.activate(key)).toMatchObject({ mayRun: true, by: 'service' });
      return { client, key, id };
    },
    close: async () => {
      middle.close();
      await world.close();
      // Retries the deletion, because an interrupted renewal may still be writing its answer into the folder.
      await rm(folder, { recursive: true, maxRetries: 5 });
    },
  };
}
