export { migrate, migrationNames, statementsAlone } from './migrate.ts';
export { faultOfServerAt, leastPostgres, postgresCheck } from './server-version.ts';
