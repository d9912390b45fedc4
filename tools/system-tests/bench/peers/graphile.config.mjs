import { makePgService } from 'postgraphile/adaptors/pg';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const { DATABASE_URL: connectionString, DB_POOL__MAX: max, PORT: port } = process.env;

export default {
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString, poolConfig: { max: Number(max) } })],
  grafserv: { port: Number(port), host: '127.0.0.1', graphiql: false },
};
