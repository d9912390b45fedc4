/** @type {import('@commitlint/types').UserConfig} */
export default {
  extends: ['@commitlint/config-conventional'],
  rules: {
    'header-max-length': [2, 'always', 72],
    // A URL or a line of a log cannot be wrapped.
    'body-max-line-length': [0],
    'footer-max-line-length': [0],
  },
};
