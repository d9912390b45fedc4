import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listSpecVersions } from '../../data/specs.ts';

export const history = handle(registry.storySpec.history, ({ params, db }) =>
  listSpecVersions(db, params.storyId, params),
);
