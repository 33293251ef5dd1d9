/** What every page that has a script does once there is time for it. */
import './theme.ts'

/**
 * The pages that come next have another style sheet: here it changes nothing. Where it has to be fetched only then, the browser may show
 * the page before it knows of the animation between the two, and gives that up with an error.
 */
const { next } = document.documentElement.dataset
if (next) document.head.insertAdjacentHTML('beforeend', `<link rel="stylesheet" media="not all" href="${next}">`)
