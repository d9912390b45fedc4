import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/** The clone this file belongs to. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../..');

/**
 * Everything a running development instance leaves behind; removing it is a fresh start. With another folder a second
 * instance runs beside the first.
 */
export const dataFolder = path.resolve(repositoryRoot, process.env['MUSTER_DATA'] || '.data');

/** Where the worker writes mails while no SMTP server is named. */
export const mailFolder = path.join(dataFolder, 'mail');

/** Logs of what runs here. */
export const logFolder = path.join(dataFolder, 'logs');

/** Makes a folder that only its owner may look into; one that is there already becomes so. */
export function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}
