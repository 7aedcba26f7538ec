import java.util.ArrayList;
import java.util.List;

public class Inventory {
    private List<String> names = new ArrayList<String>();
    private int capacity = 100;

    public Inventory(int capacity) {
        this.capacity = capacity;
    }

    public boolean add(String name) {
        if (names.size() >= capacity) {
            return false;
        }
        names.add(name);
        return true;
    }

    public int count(String wanted) {
        int found = 0;
        for (int i = 0; i < names.size(); i++) {
            if (names.get(i).equals(wanted)) {
                found = found + 1;
            }
        }
        return found;
    }

    public static void main(String[] args) {
        Inventory inventory = new Inventory(10);
        inventory.add("hammer");
        inventory.add("screwdriver");
        System.out.println("There are " + inventory.count("hammer") + " hammers");
    }
}
