/** Servers, databases and apps for tools. Other tools import only this file of the folder. */
export { accountForPostgres } from './account.ts';
export { aptGet, canInstall, findProgram } from './apt.ts';
export { claimFile } from './claim.ts';
export { type DevFile } from './dev-file.ts';
export { Dice } from './dice.ts';
export { exitCodeOf } from './exit-code.ts';
export { isRunning } from './foreign-process.ts';
export { formatted } from './format.ts';
export { runningInstance } from './operators.ts';
export { findCaddy } from './optional-programs.ts';
export { type AppName, metricsPortOf, portOfApp, portsOfApps } from './ports.ts';
export { type Postgres, startPostgres } from './postgres.ts';
export { type Redis, startRedis } from './redis.ts';
export { dataFolder, mailFolder, repositoryRoot } from './repository.ts';
export {
  git,
  kill,
  type RunnerMachine,
  makeOrigin,
  openMachine,
  processesOf,
  type WorkingRunner,
} from './runner-machine.ts';
export { describeExit, type ServiceProcess } from './service-process.ts';
export { makeThrowAwayFolder } from './throw-away.ts';
export { startThrowAwayApi, type ThrowAwayApi } from './throw-away-api.ts';
export { sourcesOf, startThrowAwayApp, type ThrowAwayApp } from './throw-away-app.ts';
