/** Of this process, for one that a spec starts: how it finds programs, and what Node has compiled already. */
export const programEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});
