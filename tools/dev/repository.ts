import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/** The root of the clone that this file belongs to. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../..');

/**
 * The folder with everything that a development instance stores; removing it is a fresh start. With another
 * folder a second instance runs at the same time.
 */
export const dataFolder = path.resolve(repositoryRoot, process.env['MUSTER_DATA'] || '.data');

/** The folder into which the worker writes mails while no SMTP server is configured. */
export const mailFolder = path.join(dataFolder, 'mail');
export const filesFolder = path.join(dataFolder, 'files');

/** The folder of the logs of local programs. */
export const logFolder = path.join(dataFolder, 'logs');

/** Creates a folder that only its owner can read, or makes an existing one private. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}
