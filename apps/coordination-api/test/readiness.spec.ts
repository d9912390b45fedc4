/** Readiness of the API before and after an upgrade. */
import { expect, it } from '@jest/globals';
import { migrationNames } from '@muster/migrations';
import { waitUntil } from '@muster/testing';
import { useApi } from './api.ts';

const api = useApi();
const { world } = api;

const requestReadiness = () => api.request('/readyz', { method: 'GET' });

it('is not ready before the migrations it was written for, and is ready after them, and on those of a newer release', async () => {
  const newest = migrationNames().at(-1) ?? '';
  expect((await requestReadiness()).status).toBe(200);
  await world.rows('delete from app.applied_migrations where name = $1', newest);
  // The result is cached for a second.
  await waitUntil(async () => (await requestReadiness()).status === 503);
  await world.rows(
    `insert into app.applied_migrations (name) values ($1), ('9999_of_the_release_after')`,
    newest,
  );
  await waitUntil(async () => (await requestReadiness()).status === 200);
});
