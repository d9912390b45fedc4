export { changedFields } from '@muster/runtime';
