import theme from 'vitepress/theme';
import './diagrams.css';

export default theme;
