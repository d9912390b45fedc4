import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  readOrCreateFolderId,
  parseIoregId,
  parseMachineIdFile,
  parseRegistryId,
  machineIdOf,
} from './machine-id.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-machine-id-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the id that a system has of its machine', () => {
  it('is IOPlatformUUID on macOS', () => {
    const said = `+-o J314sAP  <class IOPlatformExpertDevice, id 0x100000253, registered, matched, active>
    {
      "IOPlatformSerialNumber" = "C02XL0AAJGH5"
      "IOPlatformUUID" = "5D5A4B37-1234-5678-9ABC-DEF012345678"
    }`;
    expect(parseIoregId(said)).toBe('5d5a4b37-1234-5678-9abc-def012345678');
    expect(parseIoregId('{}')).toBeUndefined();
  });

  it('is MachineGuid on Windows', () => {
    const said =
      '\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    0F3A5C7E-1234-5678-9abc-def012345678\r\n\r\n';
    expect(parseRegistryId(said)).toBe('0f3a5c7e-1234-5678-9abc-def012345678');
    expect(parseRegistryId('ERROR: The system was unable to find')).toBeUndefined();
  });

  it('is the content of /etc/machine-id on Linux, where there is one', () => {
    expect(parseMachineIdFile('b08dfa6083e7567a1921a715000001fb\n')).toBe('b08dfa6083e7567a1921a715000001fb');
    for (const text of ['', 'uninitialized\n', `${'0'.repeat(32)}\n`, 'b08dfa60']) {
      expect(parseMachineIdFile(text)).toBeUndefined();
    }
  });
});

describe('the id that is sent', () => {
  it('is the same again, another one for another product, and tells nothing of the system’s own', async () => {
    const [one, again, other] = await Promise.all(
      ['demo', 'demo', 'other'].map((product) => machineIdOf({ product, folder })),
    );
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(again).toBe(one);
    expect(other).not.toBe(one);
    const own = await readFile('/etc/machine-id', 'utf8').catch(() => '');
    if (own.trim() !== '') expect(one).not.toContain(own.trim());
  });

  it('hangs on a random id in the folder where the system has none: made once, by whoever comes first', async () => {
    const made = path.join(folder, 'a', 'b');
    const ids = await Promise.all(Array.from({ length: 8 }, () => readOrCreateFolderId(made)));
    expect(new Set(ids).size).toBe(1);
    expect(await readOrCreateFolderId(made)).toBe(ids[0]);
    expect(await readOrCreateFolderId(path.join(folder, 'c'))).not.toBe(ids[0]);
    expect((await stat(path.join(made, 'machine-id'))).mode & 0o777).toBe(0o600);
  });
});
