// The same shapes in Rust: modules, methods, generics, closures, inlined chains.
mod app {
    pub mod inner {
        #[inline(always)]
        pub fn take(n: usize) -> Vec<u8> {
            let mut v = Vec::with_capacity(n + 16);
            v.push(n as u8);
            v
        }

        #[inline(never)]
        pub fn hidden(n: usize) -> usize {
            take(n).len() + take(n + 1).capacity() % 2
        }
    }

    pub trait Shape {
        fn area(&self) -> usize;
    }

    pub struct Square<T>(pub T);

    impl Shape for Square<usize> {
        #[inline(never)]
        fn area(&self) -> usize {
            self.0 * self.0 + inner::hidden(self.0)
        }
    }

    pub enum Either {
        Left(usize),
        Right(String),
    }

    impl Either {
        #[inline(never)]
        pub fn size(&self) -> usize {
            match self {
                Either::Left(n) => inner::hidden(*n),
                Either::Right(s) => s.clone().len(),
            }
        }
    }

    #[inline(never)]
    pub fn apply<F: Fn(usize) -> usize>(f: F, n: usize) -> usize {
        f(n) + f(n + 1)
    }
}

use app::Shape;
use std::collections::HashMap;

fn main() {
    let n = std::env::args().count();
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(app::Square(n)), Box::new(app::Square(n + 1))];
    let mut total: usize = shapes.iter().map(|s| s.area()).sum();
    total += app::Either::Left(n).size() + app::Either::Right(format!("{n}")).size();
    total += app::apply(|k| k + app::inner::hidden(n), 3);
    let mut map: HashMap<String, usize> = HashMap::new();
    for i in 0..n + 2 {
        *map.entry(i.to_string()).or_default() += i;
    }
    println!("{}", total + map.len() > 0);
}
