/** HTML as it is written in the code, the same in each app that has pages. */
export { Html, html } from '@muster/http';
