/**
 * Where the command line keeps the address of the site that it comes from. The site fills it in when someone downloads
 * it (src/server/http/own-site.ts), with the same number of characters, so that the package's lengths stay right.
 */
export const OWN_SITE =
  'PROVING_GROUND_SITE_____________________________________________________________________________________________________________'
