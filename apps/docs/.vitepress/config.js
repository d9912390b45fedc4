export { default } from '../src/vitepress/config.ts';
