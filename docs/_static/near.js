// @ts-check
// Loads the script of a part of a page when its reader comes near: most never do, and the page opens without it.

{
    const here = /** @type {HTMLScriptElement} */ (document.currentScript).src;
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-near]"))) {
        const watch = new IntersectionObserver((seen) => {
            if (!seen.some((each) => each.isIntersecting)) return;
            watch.disconnect();
            const script = document.createElement("script");
            script.src = new URL(place.dataset.near ?? "", here).href;
            // What stands for it without a script then stays, all of it.
            script.addEventListener("error", () => place.classList.add("alone"));
            document.head.append(script);
        }, { rootMargin: "600px 0px" });
        watch.observe(place);
    }
}
