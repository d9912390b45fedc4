/** The logo of the product as SVG. */
export const logoSvg =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='9' fill='#0d7a6c'/><path d='M9 22V11l7 7 7-7v11' fill='none' stroke='#fff' stroke-width='3' stroke-linecap='round' stroke-linejoin='round'/></svg>";
