// Does nothing but be there: what any program costs.
console.log("ready 0");
setInterval(() => {}, 1000);
