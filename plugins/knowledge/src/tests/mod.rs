mod cutting;
mod converting;
