export { migrate, migrationNames, splitStatements } from './migrate.ts';
export { describeServerFaultAt, minPostgresVersion, postgresHealthCheck } from './server-version.ts';
