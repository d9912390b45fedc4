import path from 'node:path';

/** The clone this file belongs to. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../..');

/** Everything a running development instance leaves behind; removing it is a fresh start. */
export const dataFolder = path.join(repositoryRoot, '.data');

/** Where the worker writes mails while no SMTP server is named. */
export const mailFolder = path.join(dataFolder, 'mail');
